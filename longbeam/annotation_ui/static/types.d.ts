// Generated from the view records by `python -m longbeam.annotation_ui.script_types`; do not edit.

export interface AbsenceView {
  needed: number;
  made: number;
  is_by_rote: boolean;
  queries: QueryMade[];
  hits: number;
  looked_at: number;
  suggested: string[];
  missing: string;
  sessions: SessionCoverage[];
}

export interface ActResult {
  event_ids: string[];
  item: ItemView | null;
  training: TrainingResult | null;
}

export interface AdjudicationPage {
  open: number;
  decided: number;
  items: ConflictView[];
  taxonomy: string[];
}

export interface AdjudicationView {
  reviewer_id: string;
  verdict: string;
  taxonomy: string;
  confidence: number;
  note: string;
  judged: string[];
  changes: ChangeView[];
}

export interface Anchor {
  message_key: string;
  quote: string;
  prefix: string;
  suffix: string;
  content_hash: string;
}

export interface Border {
  message_id: number;
  label: string;
}

export interface CandidateLink {
  item_id: string;
  name: string;
  question: string;
  is_in_queue: boolean;
  status: string;
}

export interface ChangeView {
  target: string;
  before: JsonValue;
  after: JsonValue;
  name: string;
  parts: DiffPart[];
}

export interface CheckRow {
  check: string;
  doc: string;
  state: "ok" | "info" | "warning" | "error" | "not_run";
  count: number;
}

export interface CitedLine {
  message_id: number;
  speaker: string;
  quote: string;
}

export interface ConflictView {
  item_id: string;
  item_version: string;
  href: string;
  ability: string;
  question: string;
  sealed: Probe;
  opinions: OpinionView[];
  fields: FieldRow[];
  evidence: number[];
  opens_at: number;
  is_edited: boolean;
  findings: FindingView[];
  name: string;
  differs: string[];
  is_decided: boolean;
}

export interface CounterRow {
  message_id: number;
  message_key: string;
  href: string;
  role: string;
  session: number;
  plan_index: number | null;
  sent_at: string;
  score: number;
  signs: string[];
  excerpt_html: string;
  quote: string;
  is_cleared: boolean;
}

export interface CounterView {
  terms: string[];
  candidates: CounterRow[];
}

export interface DateMention {
  text: string;
  date: string;
  weekday: string;
  where: string;
  is_year_guessed: boolean;
}

export interface DateSpan {
  first: string;
  second: string;
  days: number;
  days_inclusive: number;
  weeks: number;
  months: number;
}

export interface DatesView {
  dates: DateMention[];
  spans: DateSpan[];
  lengths: LengthMention[];
  computation: string;
  computed_value: string;
}

export interface DecisionsView {
  decisions: EventView[];
}

export interface DetailRow {
  name: string;
  text: string;
}

export interface DiffPart {
  kind: "same" | "removed" | "added";
  text: string;
}

export type Difficulty = "easy" | "medium" | "hard";

export interface Doubt {
  text: string;
  messages: MessageLink[];
}

export interface EventView {
  event_id: string;
  item_id: string;
  href: string;
  item_name: string;
  reviewer_id: string;
  kind: string;
  target: string;
  name: string;
  parts: DiffPart[];
  value: string;
  before: JsonValue;
  after: JsonValue;
  reason_code: string;
  note: string;
  guideline_version: string;
  created_at: string;
  is_undone: boolean;
}

export interface Evidence {
  message_key: string;
  quote: string;
  part: string;
  group: number | null;
  nugget_ids: string[];
}

export interface EvidenceView {
  evidence_id: string;
  message_key: string;
  message_id: number | null;
  quote: string;
  part: string;
  role: string;
  group: number | null;
  nugget_ids: string[];
  attachment: string;
  anchor: Anchor;
  start: number;
  end: number;
  sent_at: string | null;
  session: number | null;
  message: MessageView | null;
}

export interface FieldCell {
  parts: DiffPart[];
  label: string;
}

export interface FieldRow {
  name: string;
  target: string;
  nugget_id: string;
  text: string;
  own: DiffPart[];
  cells: FieldCell[];
  evidence: CitedLine[];
  is_disputed: boolean;
}

export interface FindingView {
  check: string;
  severity: string;
  doc: string;
  message: string;
  href: string;
  place: string;
  messages: MessageLink[];
}

export interface Gate {
  code: string;
  title: string;
  message: string;
  nugget_ids: string[];
  can_override: boolean;
}

export interface GuidelineView {
  section: string;
  name: string;
  text: string;
  html: string;
  version: string;
}

export interface GuidelinesView {
  version: string;
  sections: GuidelineView[];
}

export interface Hit {
  message_id: number;
  message_key: string;
  role: string;
  speaker: string;
  session: number;
  plan_index: number | null;
  sent_at: string;
  count: number;
  at: number;
  excerpt_html: string;
}

export interface ItemView {
  item_id: string;
  name: string;
  item_version: string;
  conversation_id: string;
  ability: string;
  ability_title: string;
  panel: PanelKind;
  difficulty: string;
  question: string;
  moment: string;
  gold_answer: string;
  details: ProbeDetails;
  rubric: NuggetView[];
  evidence: EvidenceView[];
  context: MessageView[];
  spread: number;
  sessions_touched: number;
  diffs: Record<string, DiffPart[]>;
  is_checking: boolean;
  is_checked: boolean;
  is_findings_current: boolean;
  findings: FindingView[];
  checks: CheckRow[];
  status: string;
  overlap: number;
  saved: number;
  wanted: number;
  assigned: string[];
  is_blind: boolean;
  is_guessable: boolean;
  mine: OpinionView | null;
  others: OpinionView[];
  adjudication: AdjudicationView | null;
  returned: NoteView | null;
  notes: NoteView[];
  gates: Gate[];
  lease: LeaseView | null;
  candidates: CandidateLink[];
  place: QueuePlace;
  progress: OwnProgress;
  outdated: Outdated | null;
  judge: JudgeSays | null;
  solved: Solved | null;
  reasons: Record<string, string>;
  can_write: boolean;
  is_lead: boolean;
  is_gold: boolean | null;
}

export type JsonValue = any;

export interface JudgeSays {
  verdict: string;
  text: string;
}

export interface Key {
  key: string;
  action: string;
  hint: string;
  group: string;
  in_fields: boolean;
  repeats: boolean;
}

export interface LeaseView {
  reviewer_id: string;
  expires_at: string;
  is_mine: boolean;
}

export interface LedgerValue {
  subject: string;
  attribute: string;
  value: string;
  standing: string;
  messages: MessageLink[];
  sent_at: string | null;
}

export interface LengthMention {
  text: string;
  where: string;
  verdict: string;
  span: DateSpan | null;
}

export interface LintRow {
  nugget_ids: string[];
  message: string;
}

export interface LocatedView {
  message_id: number;
  message_key: string;
  sent_at: string;
  href: string;
}

export interface MeasuredDifficulty {
  evidence_from: number | null;
  evidence_to: number | null;
  tokens_to_question: number | null;
  competitors: number | null;
  restated: number | null;
  lexical_overlap: number | null;
  bm25: number | null;
  random_units: number | null;
  user_only: number | null;
}

export interface MessageComment {
  event_id: string;
  reviewer_id: string;
  text: string;
  created_at: string;
}

export interface MessageLink {
  message_key: string;
  message_id: number;
  href: string;
}

export interface MessagePart {
  message: MessageView;
  find: string;
  found: number[];
  found_total: number;
  item: string;
  item_href: string;
  comments: MessageComment[];
}

export interface MessageView {
  message_id: number;
  message_key: string;
  role: string;
  speaker: string;
  session: number;
  plan_index: number | null;
  sent_at: string;
  tokens: number;
  chars: number;
  start: number;
  end: number;
  is_whole: boolean;
  html: string;
  marks: TextMark[];
  evidence: Record<string, string>;
  comments: number;
}

export interface MinimapView {
  conversation_id: string;
  total: number;
  sessions: Border[];
  plans: Border[];
  dates: Border[];
  evidence: number[];
  comments: number[];
}

export interface NoteView {
  event_id: string;
  reviewer_id: string;
  kind: string;
  target: string;
  name: string;
  text: string;
  created_at: string;
  href: string;
}

export interface Nugget {
  nugget_id: string;
  text: string;
}

export interface NuggetView {
  nugget_id: string;
  text: string;
  label: string | null;
  is_stale: boolean;
}

export interface OpinionView {
  reviewer_id: string;
  verdict: string | null;
  is_saved: boolean;
  is_lapsed: boolean;
  reason_code: string;
  note: string;
  labels: Record<string, string>;
  probe: Probe;
  unsaved: TypedText[];
  changes: ChangeView[];
  guideline_version: string;
}

export interface Outdated {
  section: string;
  parts: DiffPart[];
}

export interface OwnProgress {
  mine: number;
  mine_wanted: number;
  finished: number;
  items: number;
  today: number;
  pace: number | null;
}

export interface PanelKind {
  name: string;
  further: string;
  has_sessions: boolean;
  draft_field: string;
  draft_hint: string;
}

export interface PanelView {
  ability: string;
  details: DetailRow[];
  values: LedgerValue[];
  doubts: Doubt[];
}

export interface PeopleProblem {
  error: string;
  message: string;
  changes: ChangeView[];
  item_version: string;
  gates: Gate[];
  lease: LeaseView | null;
}

export interface Probe {
  probe_id: string;
  ability: string;
  source_category: string;
  question: string;
  gold_answer: string;
  difficulty: Difficulty;
  rubric: Nugget[];
  evidence: Evidence[];
  bullet_ids: string[];
  fact_ids: string[];
  details: ProbeDetails;
  asked_at: string | null;
  is_selected: boolean;
  rank: number;
}

export interface ProbeDetails {
  variety: string;
  on_contradiction: string;
  old_value: string;
  new_value: string;
  computed_from: string[];
  computation: string;
  computed_value: string;
  items: string[];
  missing: string;
  searches: string[];
  instruction: string;
  preference: string;
  difficulty: MeasuredDifficulty;
  extra: Record<string, any>;
}

export interface QueryMade {
  query: string;
  total: number;
  is_counted: boolean;
}

export interface QueuePlace {
  index: number | null;
  total: number;
  previous: string | null;
  next: string | null;
}

export interface QueueRow {
  item_id: string;
  conversation_id: string;
  probe_id: string;
  ability: string;
  difficulty: string;
  question: string;
  status: string;
  mine: string;
  saved: number;
  errors: number;
  warnings: number;
  infos: number;
  flags: number;
  comments: number;
  leased_to: string[];
  evidence: number;
  nuggets: number;
  places: number;
  is_outdated: boolean;
  doubt: number;
  is_candidate: boolean;
  mine_at: string | null;
  mine_ms: number;
  assigned: string[];
  href: string;
  name: string;
  ability_title: string;
}

export interface QueueView {
  benchmark: string;
  view: string;
  views: Record<string, string>;
  people: string[];
  total: number;
  first: number;
  rows: QueueRow[];
  counts: Record<string, number>;
  abilities: Record<string, number>;
  conversations: Record<string, number>;
  overlap: number;
  resume: string | null;
  is_new: boolean;
  progress: OwnProgress;
  waiting_for: string;
}

export interface RubricTrial {
  judge: string;
  rows: TrialRow[];
  lint: LintRow[];
  is_sound: boolean;
}

export interface SearchResult {
  query: string;
  total: number;
  messages: number;
  hits: Hit[];
  first: number;
  message_ids: number[];
}

export interface SessionCoverage {
  session: number;
  messages: number;
  looked_at: number;
}

export interface Solved {
  answer: string;
  score: number | null;
}

export interface TextMark {
  start: number;
  end: number;
  kind: string;
}

export interface TrainingResult {
  is_right: boolean;
  text: string;
}

export interface TranscriptView {
  conversation_id: string;
  total: number;
  first: number;
  messages: MessageView[];
}

export interface TrialRow {
  answer_kind: string;
  answer: string;
  is_right: boolean;
  verdicts: TrialVerdict[];
  score: number;
  is_as_expected: boolean;
}

export interface TrialVerdict {
  nugget_id: string;
  verdict: string;
  reason: string;
}

export interface TypedText {
  target: string;
  tab: string;
  text: string;
}

export interface UndoResult {
  event: EventView | null;
  href: string | null;
  item: ItemView | null;
}

export interface WrittenView {
  probe: Probe;
  findings: FindingView[];
  item_id: string | null;
}
