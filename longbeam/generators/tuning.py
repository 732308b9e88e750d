"""Tuning of `generators`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class PlanningTuning(Record):
    """Numbers of the profile, the seeds, the plan and its bullets."""

    most_addition_words: int = 45  # Words of an entry of a log or of a confidence: half as many again as asked for.
    pasted_at: tuple[float, float] = (0.55, 0.85)  # Part of a plan in which a document is pasted: behind its middle.
    bullets_per_advice: int = 3  # Bullets of a stage for each piece of advice: as many as one question takes up.
    advice_per_stage: tuple[int, int] = (4, 7)  # Pieces of advice of a stage, fewest and most: questions reach so far.
    corrections_per_stage: int = 2  # Corrections of the assistant in a stage: more would make the user a proofreader.
    fresh_days: int = 10  # Days after the last word on a thing: later a message has to name it again.
    advice_options: int = 3  # Options of a list: a choice of two is a guess.
    advice_steps: int = 4  # Steps of a plan: an order of three is guessed in one of six tries.
    advice_ahead_days: tuple[int, int] = (5, 25)  # Days from a reply to the day it sets: near enough for the story.
    least_set_aside: float = 10.0  # Money that is set aside, at least: nobody saves $3 for something of its own.
    evolves_after_days: int = 7  # Days that a preference stands before another: a liking of yesterday is no habit.
    most_event_words: int = 60  # Words of an event's text, twice those asked for: a longer one is a loop or was cut.
    most_value_words: int = 8  # Words of a value that is a name: the title of a book may be long.
    cut_margin: int = 10  # Characters that a text cut by its form may lack: the cut falls between words.
    repeated: float = 0.8  # Share of the shorter text's words that the other has: from here on both say the same.
    least_compared: int = 8  # Words (with content) of a text that can repeat another: shorter ones do by chance.
    apart_messages: int = 20  # Messages from statement to contradiction: nobody gets wrong what they have just said.
    apart_days: int = 14  # Days from statement to contradiction: nobody gets wrong what they said last week.
    flat_apart_days: int = 30  # Days of age of what is denied altogether: nobody forgets the whole thing sooner.
    flat_denials: int = 2  # Contradictions of which one denies the whole thing, at most: no kind has more than half.
    settled_days: int = 5  # Days that a value stands before an update: a change on the next day is a correction.
    just_told: int = 4  # Bullets before a contradiction that are still fresh in mind: it cannot be about them.
    most_related: int = 6  # Bullets of other stages about a target's thing that are shown: prompts have an end.
    places_per_special: int = 2  # Places of a stage for each special bullet: one must be left to choose.
    wish_uses: int = 2  # Events behind a wish that meet its condition: one that never applies cannot be asked for.
    looking_back: float = 0.5  # Share of a later plan's updates and contradictions that are about an earlier: half.
    pool_per_kind: int = 10  # Bullets of each special kind from 128K on: eight candidates are wanted, two may fail.
    spare_candidates: int = 2  # Updates and contradictions beyond the probes, up to 64K: more would confuse anybody.
    bullets_spread: float = 0.4  # Share of `[plan] spread` by which bullets vary: more would leave dialogues too short.
    fewest_bullets: int = 40  # Bullets of a plan that may be left out of it down to here: fewer give too few summaries.
    lean_pool: int = 4  # Bullets of each special kind in the lean table: larger pools lie between the tables.
    narratives: tuple[int, int] = (15, 20)  # Narratives of a plan, fewest and most: as BEAM has them.
    few_narratives: tuple[int, int] = (8, 13)  # Narratives up to 64K, fewest and most: it cannot move BEAM's many.
    name_tries: int = 60  # Draws from a country's names before the wide list serves: the smallest has 20 of a kind.
    wide_name_tries: int = 20_000  # Draws from the wide list: of 200 first names the rarest comes in 3,000 draws.
    youngest: int = 20  # Years of a user's age, at least: somebody of 20 has work, money and plans of their own.
    oldest: int = 70  # Years of a user's age, at most: most stories are about work.
    recent_personas: int = 20  # Personas before one that do not share its names: every table has more names.
    oldest_relative: int = 99  # Years of a relative's age, at most: older people are news themselves.
    parent_gap: tuple[int, int] = (18, 45)  # Years between a parent and a child, fewest and most: the usual bounds.
    partner_gap: int = 10  # Years between partners, at most: a wider gap would want a word.
    friend_gap: int = 12  # Years between friends, at most: a wider gap would want a word.
    largest_size: int = 12  # Factor on the number of people, at most: beyond it, the names of so many would run out.
    returning: int = 2  # People of earlier plans who return in each later plan: a few known faces among new ones.
    fewest_narratives: int = 3  # Narratives that a story can be told with: a shorter list fails.
    earlier_plans_tokens: int = 1_200  # Tokens of the summary of all plans before one: BEAM allows 300 for each plan.
    carried_facts: int = 120  # Facts of earlier plans in a plan's prompts: people come first, prompts have an end.
    most_name_words: int = 5  # Words of the name of a thing: a longer one is a description.
    earlier_shown: int = 40  # Events of earlier stages that a writer sees: the newest, and what opened open matters.
    told_anew: int = 2  # Times that events which cannot all hold are told anew: after that they lose their links.
    most_alike: int = 2  # Amounts of one group that compare with earlier ones: more are found where there are none.
    named_amounts: int = 3  # Amounts that a menu names for others to compare with: a writer needs a choice, not a list.
    seed_rounds: int = 6  # Calls for seeds that are still missing, at most: a model that repeats itself goes on to.
    seeds_at_once: int = 12  # Seeds asked for in one call: in longer lists they begin to repeat each other.
    title_overlap: float = 0.5  # Similarity (Jaccard) of titles of near-duplicates: BEAM's hundred reach 0.40.
    seed_overlap: float = 0.35  # Similarity (Jaccard) of all words of near-duplicates: BEAM's hundred reach 0.28.
    stage_slack: float = 0.9  # Share of a stage's days that its events use: turns that are asked for use the rest.
    last_stage_slack: float = 0.68  # Share of the last stage's days that events use: the end of the story has the rest.
    closing_from: float = 0.9  # Share of the last stage before the ending: what comes out needs days for its cause.
    outcomes: int = 3  # Events of the last stage that tell how a part came out: the last plan has one more.
    events_per_narrative: int = 4  # Events for each narrative: opening, turning point, what leads there and from there.
    questions_per_entry: int = 12  # Questions for each entry of the user's log: more would crowd out the story.
    few_entries: int = 5  # Entries of the log of a short plan: fewer are counted at a glance.
    most_entries: int = 16  # Entries of the log of the longest plan: more of one kind bore anybody.
    roomy: int = 60  # Questions from which a plan has two confidences and a document: fewer would be full of them.
    side_events: int = 3  # Events of a stage for a side story: news, what somebody makes of it, what comes of it.
    largest_group: int = 3  # Factor on the first size of a group, at most: a larger one does not fit its form.
    last_told: int = 60  # Bullets of the story whose sentences a small model might repeat: more than it is shown.
    following_shown: int = 3  # Events just behind a group that its writer sees: it must not tell them ahead.
    later_shown: int = 8  # Events further on that its writer sees: those that follow from the group.
    slots_shown: int = 24  # Values of a group's matters that its writer sees: the newest, as prompts have an end.


PLANNING = PlanningTuning()


class ChatTuning(Record):
    """Numbers of the reading of imported chats."""

    most_advised_values: int = 2  # Values of one thing: the first, and the one that corrects it.
    conflict_named: float = 0.5  # Share of the words of a thing's name in a remark: below, it is about another.
    denied: float = 0.5  # Share of the words of a denial that a statement has: from here on it is what is denied.
    most_denied: int = 3  # Remarks that the checker is asked about: all are as close to a denial.
    furthest_day: int = 150  # Days to a day without a year: further off it may be of either year.
    longest_name: int = 60  # Characters of a subject, an attribute or a value: a longer one is a sentence.
    near: int = 60  # Characters in front of a value that are read for what it is a part of: half a sentence.
    passage_characters: int = 16_000  # Characters that one call reads: some 4,000 tokens, whose facts fit one reply.
    message_characters: int = 8_000  # Characters of a message that are read: of a longer one the first and last half.
    most_known_statements: int = 80  # Statements of earlier passages that are shown: the latest are likely to change.


CHAT_READING = ChatTuning()


class DialogueTuning(Record):
    """Numbers of the user's turns, the replies and their budget."""

    min_reply: int = 90  # Tokens of a reply that are asked for, at least: a shorter one is no advice.
    max_reply: int = 1_150  # Tokens of a reply that are asked for, at most: BEAM's have 800 to 1,050 on average.
    most_demand: float = 1.3  # Factor on the longest reply to a question: a plan or a draft may be longer.
    typical_exchange: int = 900  # Tokens of a usual exchange: from them the number of further turns is reckoned.
    catch_up: int = 4_000  # Tokens by which a dialogue may lag before turns are put in between: four long exchanges.
    more_at_once: int = 8  # Turns that are asked for at once where a dialogue lags: more would repeat each other.
    ending_reply: int = 380  # Tokens kept for the reply to each turn that ends the story: it must not be cut off.
    more_rounds: int = 40  # Times that turns are asked for at the end of a sub-plan: a model may write next to none.
    exchanges_per_turn: float = 1.15  # Replies of full length a turn: BEAM has 1.32; here acceptances get a sentence.
    least_demand: float = 0.01  # Factor on a full reply, at least: some words for a yes.
    greatest_demand: float = 2.2  # Factor on a full reply, at most: the work of several questions.
    yes: float = 0.01  # Factor for a message that wants a short yes: 1 to 12 words, at 1,150 tokens for a full demand.
    quick: float = 0.08  # Factor for a message that asks for a yes or a no: 40 to 90 words.
    statement: float = 0.12  # Factor for a message without a question: some 100 words for news.
    question: float = 0.9  # Factor for a first question: nearly a full reply.
    further: float = 0.35  # Factor added for each further question: they share what is explained.
    work: float = 0.5  # Factor added for a piece of work: a draft or a plan has lines of its own.
    material: float = 0.3  # Factor added for code, a log or a quotation: it is gone through.
    most_further: int = 3  # Questions beyond the first that lengthen a reply: more of them are one question in parts.
    little: float = 0.4  # Factor where a message wants little ("in two sentences"): a short draft still has its lines.
    long_material: int = 240  # Characters of code, log or quotation that count: they take a reader some time.
    length_variation: tuple[float, float] = (0.85, 1.15)  # Factor on a reply's length: equal ones read like forms.
    reacted: float = 0.9  # Factor of an answer or objection, at least: it wants advice, as questions do.
    history_tokens: int = 9_000  # Tokens of dialogue that are kept: beyond, the older part is folded into a summary.
    least_history_tokens: int = 1_000  # Tokens of dialogue for a model with a short context: fewer hold no exchange.
    kept_part: int = 5  # Divisor of that length: a fifth is kept when the older part is folded, which is rare then.
    beside_history_tokens: int = 4_000  # Tokens of a reply and the rest of its request: 3,800 at most in rehearsals.
    summary_tokens: int = 600  # Tokens of the summary of the folded part: it stands in each later request.
    user_messages: int = 4  # Messages that the user's side sees, at least: the present turn, or two exchanges.
    carried_wishes: int = 60  # Wishes that a dialogue is shown: the newest; a plan of 1M has some fifteen of its own.
    taken_back_within: int = 120  # Characters behind a bullet in which a message may take it back: a sentence or two.
    reply_to_new_turn: int = 300  # Tokens of the reply to a new turn, about: far below what a length may be off.
    end_characters: int = 400  # Characters of a reply's end that are kept: what the user answers to stands there.
    sitting: float = 0.45  # Share of a day's turns that follow at once: people do several things in one sitting.
    messages_per_turn: int = 10  # Messages of a turn, at most: a question, two answers, two follow-ups, their replies.
    reply_s: tuple[int, int] = (8, 90)  # Seconds to a reply, fewest and most: a model writes it.
    answer_s: tuple[int, int] = (40, 420)  # Seconds to the user's answer, fewest and most: somebody reads and types.
    next_turn_s: tuple[int, int] = (90, 900)  # Seconds to the next turn of a sitting: somebody thinks of another thing.
    card_slack: float = 0.25  # Part of the length by which a message may differ: a writer cannot count words.
    beside_bullet: int = 6  # Words of a message beside its bullets, at least: it has to ask or to lead in.
    question_words: int = 12  # Words of a plain question: the length that a card leaves for it.
    feeling_share: float = 0.14  # Share of messages that name a feeling: 17 % in BEAM, 12 % in LoCoMo.
    typo_share: float = 0.01  # Share of messages with a corrected typing error: 0.4 % in BEAM, 0.1 % in LoCoMo.
    callback_share: float = 0.02  # Share of messages that come back to advice: up to 1 % in BEAM and LoCoMo.
    aside_share: float = 0.02  # Share of messages that remark on something else: up to 1 % in BEAM and LoCoMo.
    short_day_share: float = 0.5  # Share of days said by weekday or number where unique: without a year is the rule.
    asks_back: float = 0.14  # Share of replies to questions that ask back: BEAM has .22 answers a turn.
    asks_again: float = 0.45  # Share of replies to first answers that ask back: 45 % of BEAM's have a second one.
    reacts_again: float = 0.3  # Share of the follow-ups that a second one comes behind: 23 of BEAM's 77.
    confirmed_share: float = 0.2  # Share of wishes said alone that want a yes only: chosen, no source counts them.
    max_answers: int = 2  # Answers of the user within a turn: more would be an interview.
    max_follow_ups: int = 2  # Reactions of the user within a turn: behind two, the matter is closed.
    specials_per_call: int = 4  # Messages on special bullets of one call: each has a card with conditions of its own.
    asked_in_batches: int = 12  # Messages of earlier batches that a writer sees: few, as the bullets differ already.
    last_asked: int = 40  # Questions that a writer of further ones sees: repetitions of an earlier one are left out.
    remembered_questions: int = 24  # Questions of earlier sub-plans that are remembered: some 800 tokens a call.
    gist: int = 240  # Characters of an earlier question that are shown: enough to tell it from others.
    context_bullets: int = 40  # Bullets before the batch that its writer sees: more would cost tokens for nothing.
    files_shown: int = 3  # Files that a writer is shown: the ones pasted last.
    file_characters: int = 2_000  # Characters of a file that are shown: 40 lines, as many as a message may paste.


DIALOGUE = DialogueTuning()


class ProbeTuning(Record):
    """Numbers of candidates, wordings and the selection of probes."""

    calibrated_messages: int = 4  # Messages that a judge is asked about: each has four claims, of which two are said.
    calibrated_marks: int = 2  # Messages of these that a judge marks as answers: each claim costs a call.
    abstention_bullets: int = 40  # Bullets shown to the writer of unanswered questions: what was said must be known.
    abstention_spare: int = 6  # Questions beyond those needed: the conversation turns out to answer some of them.
    abstention_proved: int = 8  # Questions without an answer that suffice: as many as an ability has candidates left.
    advice_pool: int = 8  # Candidates of an ability that need the assistant, at most: the user's facts come first.
    kind_pool: int = 4  # Candidates of each kind of question (`QuestionKind`), at most: no kind crowds out the others.
    pool: int = 24  # Candidates of one ability that are offered to the model: about twice as many as are worded.
    max_nugget_words: int = 60  # Words of a nugget: a longer one asks for several things.
    max_question_words: int = 70  # Words of a question: a longer one gives its answer away.
    words_an_item: int = 12  # Words that each thing of an order adds to a question's limit: its usual length.
    copied_run: int = 4  # Words in a row that a question and its evidence share: from here on it is a copy.
    copied_telling: int = 2  # Words of these that say more than the thing's name: both sides share the name.
    min_items: int = 3  # Things of an order, at least: two are a coin.
    max_items: int = 10  # Things of an order, at most: a longer list is work to judge.
    likely_items: int = 4  # Things of an order where there are as many: of three, one guess in six is right.
    fewest_orders: int = 8  # Candidates below which shorter orders are taken: two are selected, and some fail.
    proved_at_once: int = 200  # Things searched for in the messages before them, before lists are made: 3 ms at 128K.
    order_named: float = 0.5  # Share of a topic's words in its first message: below, it is mentioned by chance.
    most_groups: int = 12  # Lists of one length that one matter gives at most: they begin at different places.
    max_item_words: int = 24  # Words of a thing to be put in order: a longer one tells its place.
    most_beside: int = 2  # Words of a point that are neither item nor place: verb and person may be others.
    min_coverage: float = 1 / 3  # Share of a bullet's words that are quoted for it: a third is more than chance.
    restated: float = 0.5  # Share of a text's own words that a quote must have: a point is shorter than a quote.
    quoted_back: float = 0.25  # Share of a quote's words that the text must have: a point says a part of it.
    max_pairs: int = 3  # Pairs made of the facts of one thing: more would ask the same again.
    most_of_the_end: int = 12  # Statements from the end for whoever chooses questions: where the user stands.
    most_known: int = 30  # Facts of the user that the writer of a request sees: the newest, as prompts have an end.
    least_entries: int = 4  # Entries of a log that is counted or joined, at least: fewer are counted at a glance.
    least_tally: int = 2  # Entries that a count comes to, at least: one is no count.
    max_per_family: int = 12  # Sums and differences of one attribute, at most: a family has thousands of subsets.
    asked_until: float = 0.9  # Share of a conversation with probes on the way: behind it the end is as near.
    alike_questions: float = 0.7  # Similarity (Jaccard) of questions that read the same: only a name differs.
    enough_competitors: int = 3  # Competitors from which a further one does not count: summaries have dozens.
    overlap_step: float = 0.2  # Difference of overlap with evidence that tells two questions apart: less is noise.
    min_summarized: int = 3  # Messages of a summary, at least: two are read off.
    max_cited: int = 32  # Messages that a summary cites, at most: a reviewer reads all of them.
    fewest_summaries: int = 6  # Candidates below which matters of other lengths are taken: some fail the checks.
    least_days_between: int = 4  # Days between two values for a day between them: nearer, nobody can say.
    max_uses: int = 4  # Pairs that one date is part of, at most: each further one asks for the same date.
    longest_wait_days: int = 60  # Days from a user's date to an assistant's for it: beyond, they are two matters.
    least_pairs: int = 2  # Pairs from which poor ones are left out: below, a poor pair is better than none.
    own_part: int = 3  # Divisor of candidates that need the assistant, and of further kinds: a third each.
    option_quotes: int = 3  # Messages quoted of a candidate, at most: a pair and one more, as orders have many.
    option_characters: int = 160  # Characters of each: a sentence and a half, so 2,000 tokens for 20 candidates.
    default_count: int = 12  # Candidates worded per ability: at least eight checked ones are to be left.


PROBING = ProbeTuning()
