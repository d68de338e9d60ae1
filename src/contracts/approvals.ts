import type { ToolFailure } from './failures.ts'
import type { ApprovalId, ItemId } from './ids.ts'
import type { Lane } from './items.ts'
import type { JsonObject } from './json.ts'

export interface ApprovalKey {
  /** Canonical, e.g. `tool:delete_file`, `path:/srv/a` or `command:git status`. */
  readonly key: string
  /** How a person reads it. */
  readonly label: string
  /**
   * How rules name it: `shell(git status)`, `web_fetch(www.example.com)`, or each of several names that nothing else has.
   * Default: what stands behind the first colon of the key.
   */
  readonly use?: string | readonly string[]
  /** Other ways in which a rule may name it, such as a link that leads to it. They let rules ask and deny, never allow. */
  readonly aliases?: readonly string[]
  /** Other tools that would show or do the same. What rules ask or deny of them holds here, too; what they allow does not. */
  readonly tools?: readonly string[]
  /**
   * How the names of all that it holds begin, where it stands for more than itself: `/srv/a/` and `a/` for a folder. What
   * rules ask about one of them is asked before the call; the tool itself leaves out what they deny, by `context.mayUse`.
   */
  readonly within?: readonly string[]
  /**
   * It may do more than its names tell, such as a script: what rules ask or deny of other uses is asked about, in spite of
   * a yes to the whole tool. With `within` only what is named like that.
   */
  readonly isOpaque?: boolean
  /**
   * Never part of a broader permission: neither a rule for the whole tool nor one that begins with a star allows it, but
   * one that has at least the first word of its use, and no grant covers it but its own.
   */
  readonly mustBeNamed?: boolean
  /** It stands for every key that begins like it. */
  readonly isPrefix?: boolean
}

/** Something that only a person can tell. */
export interface Question {
  readonly text: string
  /** What may be answered, where that is known; another answer is taken, too. */
  readonly options?: readonly string[]
}

/** What a tool wants to be allowed before it runs, or to be told. */
export interface ApprovalWish {
  readonly summary: string
  /** Everything that this call does; all of it must be allowed. */
  readonly keys: readonly ApprovalKey[]
  /** `false`: nobody need be asked for this; rules may still want to. Default true. */
  readonly asks?: boolean
  /** Broader ones to choose from, from the narrowest: each covers the whole call. The tool itself need not be named. */
  readonly wider?: readonly ApprovalKey[]
  /** What would change, as `git diff` shows it: shown beside the arguments, which are what is approved. */
  readonly diff?: string
  /** Asks for an answer instead of a yes; it reaches the tool as `context.answer`. */
  readonly question?: Question
}

/** `session`: for the whole run. `project`: for every run in the same folder, until it is taken back. */
export type ApprovalBreadth = 'once' | 'session' | 'project'

export type ApprovalDecision =
  /** `key`: one of the request's `wider` ones is granted, instead of what this call needs. */
  | { readonly kind: 'approve'; readonly breadth: ApprovalBreadth; readonly key?: string }
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'deny'; readonly feedback?: string }
  /** Deny and end the run: the turn of the root with all that works below it, whoever has asked. */
  | { readonly kind: 'abort' }

export interface ApprovalRequest {
  /** Unique everywhere, like the id of its call. */
  readonly id: ApprovalId
  readonly itemId: ItemId
  /** Who asks: `root`, or a child of it like `root/writer#1`. */
  readonly agentPath: string
  readonly tool: string
  readonly summary: string
  /** Why, in the words of the model. */
  readonly reason?: string
  /** The exact arguments. They are what is approved: the call runs with these or not at all. */
  readonly input: JsonObject
  readonly keys: readonly ApprovalKey[]
  readonly wider?: readonly ApprovalKey[]
  /** What would change, by what was there when it was asked. */
  readonly diff?: string
  /** `unsandboxed` asks to run again outside the sandbox, `question` for an answer. */
  readonly scope: 'call' | 'unsandboxed' | 'question'
  /** Of `unsandboxed`: what came of it inside, or as much of that as anybody reads. */
  readonly inside?: { readonly error: ToolFailure; readonly partial?: string }
  readonly question?: Question
  /** What the call may not overlap with: later calls of the same step that conflict with it wait. Absent means exclusive. */
  readonly lane?: Lane
}

/** From the mildest to the strictest. */
export const ruleVerdicts = ['allow', 'ask', 'deny'] as const
export type RuleVerdict = (typeof ruleVerdicts)[number]

/**
 * What is done without asking, or not at all. A pattern is the name of a tool, perhaps with what it may be used for in
 * brackets: `web_fetch`, `shell(git status*)`, `write_file(/srv/notes/*)`; `*` stands for anything. Leaving the sandbox is
 * `unsandboxed(shell:*)`, and has to be named to be allowed.
 */
export type ApprovalRule = { readonly [Verdict in RuleVerdict]?: string | readonly string[] } & {
  /** Told to whoever is refused. */
  readonly reason?: string
}

/** The rules of one place. Within it the last that fits counts; of several places the strictest. */
export interface ApprovalPolicy {
  /** Where it stands, for whoever asks why. */
  readonly name?: string
  readonly rules: readonly ApprovalRule[]
}

/** What was approved for the project that a runtime works in; kept beyond its sessions. */
export interface ProjectGrants {
  list(): readonly ApprovalKey[]
  add(keys: readonly ApprovalKey[], by: string): Promise<void>
}
