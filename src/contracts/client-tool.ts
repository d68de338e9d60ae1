import type { ApprovalRequest } from './approvals.ts'
import type { ApprovalId } from './ids.ts'
import type { JsonObject, JsonSchema } from './json.ts'
import type { Tool } from './tool.ts'

/** A tool that the client of a session brings and runs itself. */
export interface ClientTool {
  readonly name: string
  readonly description: string
  /** It is passed on to the model as it is. */
  readonly inputSchema: JsonSchema
}

/** `required`: the model has to make a call; with a name: of that tool. Applies to one step. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string }

/** A call that waits for the result of the client. `sessions.approve` with a decision of kind `result` ends it. */
export interface ClientCall {
  readonly id: ApprovalId
  /** The name that the client gave the tool. */
  readonly tool: string
  readonly input: JsonObject
}

/** The call of a request with the scope `client`, whose summary is that name: a long one is offered to models in a shorter form. */
export const clientCallOf = ({ id, summary, input }: Pick<ApprovalRequest, 'id' | 'summary' | 'input'>): ClientCall => ({
  id,
  tool: summary,
  input,
})

/** A tool of the client, for the loop: its arguments are passed on as they are, and `execute` asks for the result. */
export interface BroughtTool extends Tool {
  readonly runsInClient: true
}

export const isBrought = (tool: Tool): tool is BroughtTool => 'runsInClient' in tool

const clientPrefix = 'client__'

/** A name that the agent has already gets a prefix, as does one that begins with it. */
export const clientToolName = (name: string, isTaken: (name: string) => boolean): string =>
  isTaken(name) || name.startsWith(clientPrefix) ? `${clientPrefix}${name}` : name

/** The name that the client gave the tool. */
export const clientNameOf = (offered: string): string => (offered.startsWith(clientPrefix) ? offered.slice(clientPrefix.length) : offered)
