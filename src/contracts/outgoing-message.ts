// What a channel of an extension is given for a person. See `ChannelProvider`.
import type { ApprovalBreadth } from './approvals.ts'
import type { JsonSchema } from './json.ts'

/** A message for a person. */
export interface OutgoingMessage {
  readonly id: string
  /** `answer`: of an agent. `notice`: proactive, or of the system. `question`: an approval or a question that waits for an answer. */
  readonly kind: 'answer' | 'notice' | 'question' | 'error'
  readonly text: string
  /** The agent that speaks, such as `orchestrator`. */
  readonly speaker: string
  readonly conversation?: string
  /** Answers to choose from. Other texts are accepted, too. */
  readonly options?: readonly string[]
  /** Of an answer: the turn that it is from. An answer with another id of the same turn begins an unfinished one again. */
  readonly turnId?: string
  /** Its text was already sent in pieces. */
  readonly streamed?: boolean
  /** Of a refusal: the person that it is for. If several people share the conversation, the others need not see it. */
  readonly onlyFor?: string
  /** Of a question: the request as data, for buttons and forms. The answer is `answer` of a message, or the next text. */
  readonly request?: ChannelRequest
  /** What tools have returned besides text since the message before, such as pictures. */
  readonly files?: readonly OutgoingFile[]
}

/** A request for approval, or a question. */
export interface ChannelRequest {
  readonly id: string
  readonly kind: 'approval' | 'question' | 'form'
  /** What is asked: a line, or the text of a question. */
  readonly title: string
  /** The tool that is to run. Of an approval. */
  readonly tool?: string
  /** The arguments of the call, in their order. Long values are cut. */
  readonly input?: readonly { readonly name: string; readonly value: string }[]
  /** The reason that the agent gave. */
  readonly reason?: string
  /** The change as a `git diff`. */
  readonly diff?: string
  /** Why the call has failed in the sandbox, if the approval is to run it outside. */
  readonly failure?: string
  /** What an approval can cover: this call, the conversation, the project. Empty if this channel cannot approve. */
  readonly breadths?: readonly ApprovalBreadth[]
  /** What an approval for more than this call covers, as people read it, such as a path. */
  readonly covers?: readonly string[]
  /** Suggested answers of a question. Other texts are accepted, too. */
  readonly options?: readonly string[]
  /** Of a form: an object schema whose properties are strings, numbers, booleans, or choices. */
  readonly form?: JsonSchema
  /** An address for the person to open. The answer is that they are done. */
  readonly url?: string
}

export interface ClosedRequest {
  readonly id: string
  readonly conversation?: string
  /** `ended`: nobody has answered, and nobody can any more. */
  readonly outcome: 'approved' | 'denied' | 'answered' | 'ended'
  /** Who answered: the name of the person in this channel, or an id such as `rest:anna`. */
  readonly by?: string
}

export interface OutgoingFile {
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  read(): Promise<Uint8Array>
}

/** What the agents of one turn do. */
export interface TurnProgress {
  /** The same for one turn. */
  readonly id: string
  readonly conversation?: string
  readonly state: 'working' | 'waiting' | 'completed' | 'failed' | 'stopped'
  /** Calls and children, in the order of their start. The oldest ones that have ended are left out if there are many. */
  readonly tasks: readonly ProgressTask[]
}

export interface ProgressTask {
  readonly id: string
  /** The task that it belongs to. */
  readonly parentId?: string
  readonly title: string
  readonly state: 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'stopped'
  /** One line, such as the first line of a result or an error. */
  readonly detail?: string
}

export interface MessagePiece {
  readonly id: string
  readonly turnId?: string
  readonly speaker: string
  readonly text: string
  readonly conversation?: string
}
