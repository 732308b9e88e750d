// Records of the server that scripts read; docs/review-api.md describes them, and the server's models define them.

export interface DiffPart {
  kind: "same" | "removed" | "added";
  text: string;
}

export interface Change {
  target: string;
  name: string;
  before: unknown;
  after: unknown;
  parts: DiffPart[];
}

export interface Problem {
  error: string;
  message: string;
  changes?: Change[];
  gates?: Gate[];
}

export interface Gate {
  code: string;
  message: string;
  can_override: boolean;
}

export interface Key {
  key: string;
  action: string;
  hint: string;
  group: string;
  in_fields: boolean;
  repeats: boolean;
}

export interface Nugget {
  nugget_id: string;
  text: string;
  label: string | null;
  is_stale: boolean;
}

export interface Evidence {
  evidence_id: string;
  message_key: string;
  message_id: number | null;
  quote: string;
  part: string;
  group: number | null;
  attachment: string;
  sent_at: string | null;
}

export interface Opinion {
  reviewer_id: string;
  verdict: string | null;
  is_saved: boolean;
  is_lapsed: boolean;
  reason_code: string;
  note: string;
  labels: Record<string, string>;
  drafts: Record<string, unknown>;
  unsaved: Record<string, string>;
  changes: Change[];
}

export interface Lease {
  reviewer_id: string;
  expires_at: string;
  is_mine: boolean;
}

export interface ItemView {
  item_id: string;
  item_version: string;
  name: string;
  conversation_id: string;
  ability: string;
  ability_title: string;
  panel: {
    name: string;
    further: string;
    sides_title: string;
    has_sessions: boolean;
    draft_field: string;
    draft_hint: string;
  };
  difficulty: string;
  question: string;
  gold_answer: string;
  details: Record<string, any>;
  rubric: Nugget[];
  evidence: Evidence[];
  diffs: Record<string, DiffPart[]>;
  spread: number;
  sessions_touched: number;
  is_checked: boolean;
  is_findings_current: boolean;
  findings: any[];
  checks: any[];
  status: string;
  overlap: number;
  saved: number;
  is_blind: boolean;
  is_guessable: boolean;
  mine: Opinion | null;
  others: Opinion[];
  adjudication: { reviewer_id: string; verdict: string; taxonomy: string; note: string } | null;
  returned: { reviewer_id: string; text: string } | null;
  outdated: { section: string; parts: DiffPart[] } | null;
  judge: { text: string } | null;
  solved: { answer: string; score: number } | null;
  flags: { event_id: string; reviewer_id: string; name: string; note: string }[];
  comments: { event_id: string; reviewer_id: string; name: string; text: string; href: string }[];
  gates: Gate[];
  lease: Lease | null;
  candidates: { item_id: string; name: string; question: string; is_in_queue: boolean; status: string }[];
  place: { index: number | null; total: number; previous: string | null; next: string | null };
  progress: { mine: number; mine_wanted: number; finished: number; items: number };
  reason_codes: string[];
  can_write: boolean;
  is_gold: boolean | null;
}

export interface MessageView {
  message_id: number;
  message_key: string;
  role: string;
  speaker: string;
  session: number;
  plan_index: number | null;
  sent_at: string;
  chars: number;
  start: number;
  end: number;
  is_whole: boolean;
  html: string;
  evidence_ids: string[];
  comments: number;
}

/** The one edit that is open. */
export interface Edit {
  target: string;
  /** The text of the field when the edit began. */
  base: string;
  text: string;
  phase: "typing" | "saving" | "conflict";
  /** The text that was saved elsewhere meanwhile. */
  theirs: Change | null;
}

export interface PageState {
  item: ItemView | null;
  nugget: number;
  piece: number;
  edit: Edit | null;
  dialog: any;
  aid: string;
  aids: any;
  guidelines: any;
  decisions: any;
  training: { is_right: boolean; text: string } | null;
  notice: { text: string; kind: string } | null;
  /** Whether a request waits for a server that does not answer. */
  isWaiting: boolean;
  /** Whether a verdict is on its way: no second one is taken. */
  isDeciding: boolean;
  /** Whether the gold answer is hidden, because the reviewer answers first. */
  isBlind: boolean;
  /** Whether the walk-through is shown. */
  isGuided: boolean;
  /** The place that a finding has led to. */
  pointed: string;
}
