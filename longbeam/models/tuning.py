"""Tuning of `models`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class CallTuning(Record):
    """Numbers of retries, limits, pacing, and of what counts as a usable reply."""

    attempts: int = 3  # Replies that a call asks for in one run of a unit: `resume` opens three more.
    list_rounds: int = 8  # Requests for the rest of a list: each one but the last brought at least one good item.
    shown_characters: int = 12_000  # Characters of its last reply that a model sees: a loop would crowd out the prompt.
    problem_characters: int = 400  # Characters of the faults that an error tells: its incident has them all.
    warmer: float = 0.3  # Temperature that each retry adds to the first attempt's: the same words would fail again.
    warmest: float = 1.0  # Temperature of a retry, at most: beyond it, models ramble.
    usual_temperature: float = 0.7  # Temperature of an endpoint where the spec names none: a usual default.
    batch_tries: int = 3  # Batches in which a call is sent that expires or meets an error that passes: a day each.
    silent_polls: int = 10  # Questions for a batch's state without an answer, in a row: the endpoint is gone.
    unseen_output: int = 2_000  # Tokens of a reply without `max_tokens` before any has come: more than most have.
    denser: float = 1.5  # Factor on the tokens per byte of the densest prompt so far: a prompt may hold more code.
    server_deaths: int = 3  # Deaths of the server without a reply in between that stop a run: it will not get better.
    tokenizer_margin: float = 1.2  # Factor to a model's own tokenizer: SmolLM2 needs 7 to 15 % more for our prompts.
    unusable_replies: int = 12  # Replies without a usable one that stop a run: four requests with three attempts each.
    tries: int = 6  # Tries of a call at an endpoint that answers other calls meanwhile: its own request is at fault.
    first_tries: int = 4  # Tries of a call at an endpoint that has never answered: it may be starting.
    refusals: int = 3  # Refusals in a row of key, quota or model from an endpoint that answered before: one may pass.
    patience_s: float = 300.0  # Seconds without a sign of life from an endpoint that answered: a restart takes less.
    timed_out_tries: int = 3  # Tries of a call that times out alone: it then fails, and the run goes on.
    vector_length_off: float = 0.001  # Share of a vector's length that counts as rounding: half precision has as much.
    longest_retry_after_s: float = 900.0  # Seconds that an endpoint may ask for: `resume` is for the hours.
    back_off_s: float = 0.25  # Seconds before the second try, evenly drawn from nothing to this: doubled with each try.
    longest_back_off_s: float = 30.0  # Seconds before a try, at most: a longer rest tells nothing new.
    grace_s: float = 0.25  # Seconds after a call's time-out: for a reply that came before it.
    loop_first_look: int = 2_000  # Characters at which a text is first looked at: shorter loops cost little.
    loop_step: int = 1_000  # Characters between two looks: a look takes time.
    loop_window: int = 8_000  # Characters at the end that are looked at: a loop is at the end.
    loop_dense: float = 5.0  # Factor by which zlib shrinks what may loop: prose reaches 2.6, code and tables 4.9.
    loop_span: int = 1_200  # Characters that exact repetition covers: less may be a refrain.
    loop_repeats: int = 5  # Repetitions of a piece: fewer may be a list.
    loop_renumbered: int = 16  # Repetitions of a piece with other numbers: a diary of two weeks is no loop.
    loop_phrase_words: int = 8  # Words of a phrase that is compared: shorter ones are shared by all sentences.
    loop_words: int = 300  # Words at the end that are compared: fewer are a paragraph.
    loop_fresh: float = 0.12  # Share of new phrases among the last words: turns among few sentences are below.
    loop_prose_words: int = 3  # Words of a renumbered piece: rows of numbers differ in nothing but numbers.
    unlimited_tokens: int = 32_768  # Tokens of a reply whose request names no limit: few models write more at once.
    longest_thought: int = 8_192  # Tokens of thought with room for twice: a longer one is asked for again.
    language_characters: int = 2_000  # Characters that are read from the start: the rest is in the same language.
    language_first: int = 500  # Characters that are read first: the other ones only if these look wrong, which is rare.
    language_letters: int = 60  # Characters (letters) of a text with a language: a name or a number has none.
    foreign_share: float = 0.5  # Share of foreign letters that makes a text foreign: below, it may quote others.
    language_words: int = 40  # Words from which small words are counted: below, they are too few.
    other_language: float = 0.12  # Share of another language's small words in a text of it: quotations have less.
    own_language: float = 0.03  # Share of its own small words below which a text is not in it: prose has more.
    more_room: int = 2  # Factor on `max_tokens` after a reply that was cut off there: it was on the way.
    longest_refusal: int = 400  # Characters of a refusal: a longer text that begins so goes on to say something.
    pace_start: int = 16  # Calls in flight before anything is known: few enough for any endpoint.
    pace_growth: float = 1.5  # Factor per round while the endpoint keeps up: doubling overshoots.
    pace_cut: float = 0.5  # Share by which a round of refusals lowers the limit, at most: however many were on the way.
    first_probe_s: float = 0.5  # Seconds from a refusal to one more call: doubled each time that is refused, too.
    longest_probe_s: float = 1.0  # Seconds until such a call, at most: a free endpoint must not idle.
    first_rest_s: float = 2.0  # Seconds from a growth without effect until the next attempt: doubled each time.
    longest_rest_s: float = 60.0  # Seconds until such an attempt, at most: endpoints get faster.
    pace_worthwhile: float = 0.3  # Share of a growth that the rate must show: otherwise the endpoint queues.
    pace_telling: float = 1.25  # Factor of growth below which rates tell nothing: they vary as much by themselves.
    burst_share: float = 0.1  # Share of a minute's allowance that goes out at once: some count by the second.
    first_output_tokens: float = 300.0  # Tokens of a reply before any has come: about a usual one.
    first_characters_per_token: float = 4.0  # Characters per token before any has been counted: as English has.
    learning: float = 0.05  # Weight of one more answer in what is known of their sizes: the last twenty or so decide.
    room_factor: int = 3  # Factor on a reply's expected length: people, models and languages differ.
    least_room: int = 512  # Tokens of room for the shortest reply: some models say something around the JSON.
    text_tokens: int = 100  # Tokens of a text field: a few sentences.
    number_tokens: int = 6  # Tokens of a number: its digits.
    word_tokens: int = 12  # Tokens of a date or of one of several choices: a few words.
    list_items: int = 12  # Items of a list whose schema names no number: a usual batch.
    inner_items: int = 2  # Items of a list within the items of another: mostly one or two.
    most_room: int = 32_768  # Tokens of room for the longest reply: few models write more at once.
    search_calls: int = 12  # Calls that search a request for what is refused: they find two texts among 32.
    told_again_words: int = 4  # Words of a text that is told again: shorter ones are names and labels.
    longest_default_context: int = 16_384  # Tokens of a context that no spec asks for: memory grows with it.


CALLING = CallTuning()
