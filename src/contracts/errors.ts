import { answeredText, type GivenAnswer } from './approvals.ts'
import type { TreeId } from './ids.ts'

/** Every error that Troupe throws. `retry`: whether a retry can help. */
export const errorTable = {
  usage: { retry: false, summary: 'a command, flag or argument is wrong' },
  config_invalid: { retry: false, summary: 'a configuration or agent definition is wrong' },
  agent_file_invalid: { retry: false, summary: 'an agent file is wrong' },
  agent_unknown: { retry: false, summary: 'no agent has that name' },
  model_unknown: { retry: false, summary: 'no model has that name' },
  model_key_missing: { retry: false, summary: 'a model needs an API key that is not set' },
  model_unavailable: { retry: true, summary: 'no model was found' },
  tools_unavailable: { retry: true, summary: 'a source of tools could not list them' },
  script_invalid: { retry: false, summary: 'a script for the script model is wrong' },
  script_mismatch: { retry: false, summary: 'a request does not match the script of a scripted model' },
  extension_failed: { retry: false, summary: 'an extension is wrong, or asked for something that it may not have' },
  session_unknown: { retry: false, summary: 'no session has that ID' },
  step_unknown: { retry: false, summary: 'the session has no such model request' },
  request_not_recorded: { retry: false, summary: 'an older version sent the request, and did not record its tools' },
  session_driven: { retry: true, summary: 'another process runs this session' },
  session_mismatch: { retry: false, summary: 'the session uses a workspace or an agent that this program does not have' },
  session_moved: { retry: false, summary: 'another process has taken over this session' },
  approval_unknown: { retry: false, summary: 'no approval request has that id' },
  approval_answered: { retry: false, summary: 'the request has another answer, which cannot be changed' },
  client_id_taken: { retry: false, summary: 'the client id belongs to another message or session' },
  budget_exhausted: { retry: false, summary: 'the owner of the session has used its budget of the day' },
  store_failed: { retry: true, summary: 'the store could not read or write' },
  store_invalid: { retry: false, summary: 'the store holds something that this version cannot read' },
  index_damaged: { retry: false, summary: 'the search index is damaged; `troupe store reindex` builds it again' },
  command_failed: { retry: false, summary: 'a check or a call of the command failed' },
  runtime_closed: { retry: false, summary: 'the runtime was closed' },
  internal: { retry: false, summary: 'an invariant of Troupe itself was broken' },
} as const

export type ErrorCode = keyof typeof errorTable

/** One problem: where it is, what was expected, and how to fix it. */
export interface Problem {
  /** `researcher.ai:3:1`, `config.agents[0].tools[2]`, `--json`. */
  readonly place: string
  readonly message: string
  readonly remedy?: string
  /** The line of the file that contains it. */
  readonly line?: string
}

export class TroupeError extends Error {
  override readonly name = 'TroupeError'
  readonly code: ErrorCode
  readonly retry: boolean
  readonly remedy: string | undefined
  /** All problems. Empty if the message says everything. */
  readonly problems: readonly Problem[]

  constructor(
    code: ErrorCode,
    message: string,
    more: { readonly remedy?: string; readonly problems?: readonly Problem[]; readonly cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.retry = errorTable[code].retry
    this.remedy = more.remedy
    this.problems = more.problems ?? []
  }
}

/** The owner of a session has used its budget of the day. */
export class BudgetExhaustedError extends TroupeError {
  /** When the budget is renewed, in milliseconds since 1970, and how long that takes. Absent: never. */
  readonly renewal: { readonly renewsAt: number; readonly retryAfterMs: number } | undefined

  constructor(message: string, { remedy, renewal }: { readonly remedy: string; readonly renewal?: BudgetExhaustedError['renewal'] }) {
    super('budget_exhausted', message, { remedy })
    this.renewal = renewal
  }
}

/** The request was answered before, by another decision. */
export class ApprovalAnsweredError extends TroupeError {
  readonly first: GivenAnswer

  constructor(approvalId: string, first: GivenAnswer) {
    super('approval_answered', `Already answered: ${answeredText(first)}.`, {
      remedy: `The first answer to request ${approvalId} applies.`,
    })
    this.first = first
  }
}

/** An event of a journal is missing or damaged. Events before `seq` can still be read. */
export class JournalDamagedError extends TroupeError {
  readonly treeId: TreeId
  readonly seq: number

  constructor(place: { readonly treeId: TreeId; readonly seq: number; readonly file: string }, what: string, cause?: unknown) {
    const { treeId, seq, file } = place
    super('store_invalid', `event ${seq} of session ${treeId} in ${file} ${what}`, {
      remedy:
        seq > 1
          ? `Events 1 to ${seq - 1} can still be read. To continue the session, restore the data folder from a backup.`
          : 'To continue the session, restore the data folder from a backup.',
      cause,
    })
    this.treeId = treeId
    this.seq = seq
  }
}
