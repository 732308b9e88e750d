from . import gguf as gguf, loops as loops, transport as transport, vllm as vllm
from .asking import Acceptance as Acceptance, Asker as Asker, ListTask as ListTask, Sifted as Sifted
from .base import (
    ChatModel as ChatModel,
    Extras as Extras,
    ExtrasOf as ExtrasOf,
    ModelCall as ModelCall,
    Models as Models,
    PromptDeclaration as PromptDeclaration,
    Sampling as Sampling,
    StateOf as StateOf,
    close_model as close_model,
    no_version as no_version,
)
from .batching import BatchingModel as BatchingModel, is_batched as is_batched
from .cost import (
    CostMeter as CostMeter,
    Prices as Prices,
    cost_of as cost_of,
    cost_usd as cost_usd,
    price_of as price_of,
    prices_of as prices_of,
    unpriced_models as unpriced_models,
)
from .factory import Surroundings as Surroundings, check_models as check_models, make_model as make_model
from .gguf import GgufModel as GgufModel
from .journal import Journal as Journal, JournalledModel as JournalledModel
from .kinds import (
    Kinds as Kinds,
    ModelKind as ModelKind,
    answers_by_rule as answers_by_rule,
    describe_rules as describe_rules,
    has_model_checks as has_model_checks,
    identity_of as identity_of,
    is_rule_writer as is_rule_writer,
    is_spoken_by_rule as is_spoken_by_rule,
    model_context as model_context,
)
from .limits import LimitedModel as LimitedModel
from .loops import LOOP as LOOP, before_loop as before_loop, find_loop as find_loop
from .openai_client import (
    EXTRA_FIELD as EXTRA_FIELD,
    CompletionReader as CompletionReader,
    OpenAIModel as OpenAIModel,
    StreamedReply as StreamedReply,
)
from .outcomes import (
    WITHOUT_TEXT as WITHOUT_TEXT,
    outcome_of as outcome_of,
    spoken as spoken,
    wrong_language as wrong_language,
)
from .parsing import (
    MOST_FAULTS as MOST_FAULTS,
    describe_changes as describe_changes,
    parse_items as parse_items,
    parse_reply as parse_reply,
)
from .provider_errors import (
    HttpAnswer as HttpAnswer,
    Redactor as Redactor,
    TooLarge as TooLarge,
    error_of_status as error_of_status,
)
from .request_fields import RequestFields as RequestFields, room_of as room_of, room_of_schema as room_of_schema
from .rewording import (
    LEFT_OUT as LEFT_OUT,
    NEUTRAL_PROMPT as NEUTRAL_PROMPT,
    in_neutral_words as in_neutral_words,
    passages_in as passages_in,
    with_passages as with_passages,
)
from .sentence_models import has_sentence_transformers as has_sentence_transformers, sentence_model as sentence_model
from .structured import (
    GRAMMAR_KEYWORDS as GRAMMAR_KEYWORDS,
    REFUSED_KEYWORDS as REFUSED_KEYWORDS,
    object_in as object_in,
    strict_schema as strict_schema,
)
from .tokens import (
    DEFAULT_TOKENIZER as DEFAULT_TOKENIZER,
    MESSAGE_OVERHEAD as MESSAGE_OVERHEAD,
    TOKENIZER_NAMES as TOKENIZER_NAMES,
    PrefixCache as PrefixCache,
    PromptEncoder as PromptEncoder,
    Tokenizer as Tokenizer,
    load_tokenizer as load_tokenizer,
    tokens_in as tokens_in,
)
from .transport import EndpointClient as EndpointClient, proxy_of as proxy_of
from .tuning import CALLING as CALLING
from .vllm import Loaded as Loaded, VllmModel as VllmModel, load_engine as load_engine
from .weights import cache_folder as cache_folder, parts_of as parts_of, weights_digest as weights_digest
