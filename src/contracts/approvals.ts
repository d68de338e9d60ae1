import type { ToolFailure } from './failures.ts'
import type { ApprovalId, ItemId } from './ids.ts'
import type { Lane } from './items.ts'
import type { JsonObject, JsonSchema, MaybePromise } from './json.ts'
import type { InputPart } from './messages.ts'
import type { SessionPlace } from './principal.ts'

export interface ApprovalKey {
  /** Canonical, e.g. `tool:delete_file`, `path:/srv/a` or `command:git status`. */
  readonly key: string
  /** How a person reads it. */
  readonly label: string
  /**
   * The name that rules match: `git status` in `shell(git status)`. Several names are possible if each is unambiguous.
   * Default: the part of the key after its first colon.
   */
  readonly use?: string | readonly string[]
  /** Other names that rules match, such as a link to the file. They can ask and deny, never allow. */
  readonly aliases?: readonly string[]
  /** Other tools with the same effect. Their `ask` and `deny` rules apply here, too; their `allow` rules do not. */
  readonly tools?: readonly string[]
  /**
   * Prefixes of everything that it contains: `/srv/a/` and `a/` for a folder. Rules that ask about a part ask before the
   * call; the tool itself omits what rules deny, by `context.mayUse`.
   */
  readonly within?: readonly string[]
  /**
   * It may do more than its name says, such as a script. Rules that ask about or deny other uses ask about it, even if the
   * whole tool is granted. With `within`, only rules for those names.
   */
  readonly isOpaque?: boolean
  /**
   * Never part of a broader permission. Only a rule that contains at least the first word of its name allows it, and only a
   * grant for exactly this key.
   */
  readonly mustBeNamed?: boolean
  /** It covers every key with this prefix. */
  readonly isPrefix?: boolean
}

/** A question to a person. */
export interface Question {
  readonly text: string
  /** Suggested answers. Other answers are accepted, too. */
  readonly options?: readonly string[]
  /** The fields to fill in: an object schema whose properties are strings, numbers, booleans, or choices. */
  readonly form?: JsonSchema
  /** An http or https address for the person to open. It is shown, never fetched. The answer says that they are done. */
  readonly url?: string
  /** Who asks, such as an MCP server. Default: the tool. */
  readonly from?: string
}

/** `cancel`: nobody answered. `text`: the answer to a question without a form. `content`: the fields of a form. */
export type QuestionAnswer =
  | { readonly kind: 'accept'; readonly text: string; readonly content?: JsonObject }
  | { readonly kind: 'decline' }
  | { readonly kind: 'cancel' }

/** What a tool wants approved or answered before it runs. */
export interface ApprovalWish {
  readonly summary: string
  /** Everything that this call does. All of it must be allowed. */
  readonly keys: readonly ApprovalKey[]
  /** `false`: needs no approval unless a rule asks. Default true. */
  readonly asks?: boolean
  /** Broader keys to choose from, narrowest first. Each covers the whole call. The whole tool is added automatically. */
  readonly wider?: readonly ApprovalKey[]
  /** The change as a `git diff`, for display. The arguments are what is approved. */
  readonly diff?: string
  /** Asks for an answer instead of an approval. The tool gets it as `context.answer`. */
  readonly question?: Pick<Question, 'text' | 'options'>
}

/** `session`: for the whole session. `project`: for every session in the same folder, until revoked. */
export type ApprovalBreadth = 'once' | 'session' | 'project'

export type ApprovalDecision =
  /** `key`: grants one of the request's `wider` keys instead of its `keys`. */
  | { readonly kind: 'approve'; readonly breadth: ApprovalBreadth; readonly key?: string }
  /** `content`: the fields of the form, if the question has one. */
  | { readonly kind: 'answer'; readonly text: string; readonly content?: JsonObject }
  /** What the client's tool returned. Bytes of `parts` are in base64. */
  | { readonly kind: 'result'; readonly ok: boolean; readonly content: string; readonly parts?: readonly InputPart[] }
  /** `cancel`: nobody decided, or the person dismissed the question. */
  | { readonly kind: 'deny'; readonly feedback?: string; readonly cancel?: true }
  /** Deny and end the whole run: the turn of the root, with all descendants. */
  | { readonly kind: 'abort' }

/** The answer that a request has. It cannot be changed. */
export interface GivenAnswer {
  readonly decision: ApprovalDecision
  /** Who decided. */
  readonly by: string
}

const verbs = { approve: 'approved', answer: 'answered', result: 'returned', deny: 'denied', abort: 'denied, run ended' } as const

/** `approved by anna`. */
export const answeredText = ({ decision, by }: GivenAnswer): string => `${verbs[decision.kind]} by ${by}`

export interface ApprovalRequest {
  /** Unique everywhere, like the id of its call. */
  readonly id: ApprovalId
  readonly itemId: ItemId
  /** The agent that asks: `root`, or a child such as `root/writer#1`. */
  readonly agentPath: string
  readonly tool: string
  readonly summary: string
  /** The reason that the model gave. */
  readonly reason?: string
  /** The exact arguments that are approved: the call runs with these or not at all. */
  readonly input: JsonObject
  readonly keys: readonly ApprovalKey[]
  readonly wider?: readonly ApprovalKey[]
  /** The change as a `git diff`, at the time of the request. */
  readonly diff?: string
  /**
   * `unsandboxed` asks to run again outside the sandbox, `question` for an answer, `sampling` to send a request of the tool to a
   * model. `client` asks no person: the client of the session runs the call.
   */
  readonly scope: 'call' | 'unsandboxed' | 'question' | 'sampling' | 'client'
  /** The call runs and waits for the decision. The request ends with its process. */
  readonly isLive?: true
  /** For `unsandboxed`: the result of the attempt inside the sandbox, cut to a readable size. */
  readonly inside?: { readonly error: ToolFailure; readonly partial?: string }
  readonly question?: Question
  /** Later calls of the same step that conflict with this lane wait. Absent means exclusive. */
  readonly lane?: Lane
}

/** From mildest to strictest. */
export const ruleVerdicts = ['allow', 'ask', 'deny'] as const
export type RuleVerdict = (typeof ruleVerdicts)[number]

/**
 * A permission for calls. A pattern is the name of a tool, optionally with a use in brackets: `web_fetch`,
 * `shell(git status*)`, `write_file(/srv/notes/*)`. `*` matches anything. Running outside the sandbox is
 * `unsandboxed(shell:*)`; only an explicit pattern allows it.
 */
export type ApprovalRule = { readonly [Verdict in RuleVerdict]?: string | readonly string[] } & {
  /** Shown when a call is denied. */
  readonly reason?: string
}

/** The rules of one source. The last rule that matches applies; of several sources, the strictest. */
export interface ApprovalPolicy {
  /** The source, for display. */
  readonly name?: string
  readonly rules: readonly ApprovalRule[]
}

/** Stored approvals for the project that a runtime works in. */
export interface ProjectGrants {
  /** Asked for each call that needs approval, so that a revocation takes effect. */
  list(): MaybePromise<readonly ApprovalKey[]>
  add(keys: readonly ApprovalKey[], by: string): Promise<void>
}

/**
 * Decides requests that rules leave open: a person at a terminal, a policy service.
 * `suspend` suspends the session until an answer is in the inbox; `wait` keeps waiting for it.
 */
export interface Approver {
  decide(
    request: ApprovalRequest,
    signal: AbortSignal,
    place: SessionPlace,
  ): MaybePromise<{ readonly decision: ApprovalDecision; readonly by: string } | 'suspend' | 'wait'>
  /** Whether nobody has seen the request yet: then a new grant can decide it. Without this, only `decide` does. */
  isInLine?(id: ApprovalId): boolean
}
