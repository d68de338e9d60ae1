// What a server asks during a call: of a person (elicitation), or of a model (sampling).
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  SamplingMessageContentBlock,
} from '@modelcontextprotocol/client'
import type {
  InputPart,
  Json,
  JsonObject,
  Question,
  QuestionAnswer,
  SampleRequest,
  ToolContext,
  ToolQuestions,
} from '../../contracts/index.ts'
import { formFields } from '../../policy/form-fields.ts'

/** Answers what a server asks while one of its tools runs. */
export interface CallQuestions {
  /** A form or a URL for a person. */
  elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>
  /** A request to a model. Rejects if none may be asked. */
  createMessage(params: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult>
}

/** Nobody is there. */
export const noQuestions: CallQuestions = {
  elicit: async () => ({ action: 'cancel' }),
  createMessage: async () => {
    throw new Error('Sampling is not available.')
  },
}

/** Asks the person and the model of the session. */
export const questionsOf = (context: ToolContext, server: string): CallQuestions => ({
  elicit: async (params, signal) => elicitResult(await context.ask(questionFrom(params, server), signal)),
  createMessage: async (params) => {
    const result = await context.sample(sampleFrom(params, server))
    if (!result.ok) throw new Error(result.error.message)
    const stopReason = result.stopReason === 'length' ? 'maxTokens' : 'endTurn'
    return { role: 'assistant', content: { type: 'text', text: result.text }, model: result.model, stopReason }
  },
})

function sampleFrom(params: CreateMessageRequest['params'], server: string): SampleRequest {
  const { messages, systemPrompt, maxTokens, temperature, modelPreferences, tools } = params
  // The capability is not announced.
  if (tools !== undefined) throw new Error('Sampling with tools is not supported.')
  return {
    messages: messages.map(({ role, content }) => ({ role, parts: (Array.isArray(content) ? content : [content]).map(inputPart) })),
    ...(systemPrompt !== undefined && { systemPrompt }),
    maxTokens,
    ...(temperature !== undefined && { temperature }),
    modelHints: (modelPreferences?.hints ?? []).flatMap(({ name }) => name ?? []),
    from: server,
  }
}

function inputPart(block: SamplingMessageContentBlock): InputPart {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'image') return { type: 'image', mediaType: block.mimeType, data: block.data }
  if (block.type === 'audio') return { type: 'file', mediaType: block.mimeType, data: block.data }
  throw new Error(`Sampling with ${block.type} is not supported.`)
}

export function questionFrom(params: ElicitRequest['params'], server: string): Question {
  const asked = { text: params.message, from: server }
  return params.mode === 'url' ? { ...asked, url: params.url } : { ...asked, form: params.requestedSchema as JsonObject }
}

export function elicitResult(answer: QuestionAnswer): ElicitResult {
  if (answer.kind !== 'accept') return { action: answer.kind }
  const { content } = answer
  return content ? { action: 'accept', content: content as ElicitResult['content'] & {} } : { action: 'accept' }
}

/** The defaults of a form. The capability promises that fields without a value get them. */
export function formDefaults({ form }: Question): JsonObject {
  if (form === undefined) return {}
  try {
    return Object.fromEntries(formFields(form).flatMap(({ name, default: preset }) => (preset === undefined ? [] : [[name, preset]])))
  } catch {
    // A form that nobody can fill in is refused when it is asked.
    return {}
  }
}

export const withDefaults = (result: ElicitResult, defaults: JsonObject = {}): ElicitResult =>
  result.action === 'accept' && result.content
    ? { ...result, content: { ...(defaults as typeof result.content), ...result.content } }
    : result

/** The state of a call between two attempts. */
export interface AskedState {
  /** The state that the server sent. */
  readonly requestState?: string
  /** Answers that need no person. */
  readonly responses: JsonObject
  /** Defaults of the forms, by question. */
  readonly defaults?: { readonly [question: string]: JsonObject }
  /** The server wants addresses to be opened before it is called again. It gets no answers. */
  readonly isPrerequisite?: true
}

export const askedStateOf = (state: Json | undefined): AskedState | undefined => state as AskedState | undefined

const urlRequiredCode = -32_042

/** The addresses that a person must open first, if that is what the error says. Revision 2025-11-25. */
export function prerequisites(error: unknown, server: string): ToolQuestions | undefined {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: { readonly elicitations?: unknown } }
  const { elicitations } = data ?? {}
  if (code !== urlRequiredCode || !Array.isArray(elicitations) || elicitations.length === 0) return undefined
  const questions = elicitations.map((each: ElicitRequest['params'], index) => [`url${index + 1}`, questionFrom(each, server)] as const)
  return { questions: Object.fromEntries(questions), state: { responses: {}, isPrerequisite: true } }
}
