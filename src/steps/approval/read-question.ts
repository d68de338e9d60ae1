import type { Json, JsonObject, Question, ToolQuestions } from '../../contracts/index.ts'
import { formFields } from '../../policy/form-fields.ts'
import { plainJson } from '../../util/json-values.ts'
import type { Redactor } from '../../util/redact.ts'
import { cutText } from '../../util/well-formed.ts'

// Questions of tools: third-party code, and servers behind it.

const maxTextLength = 10_000
const maxFormLength = 100_000
const maxUrlLength = 4_000
const maxQuestions = 20

/** A redacted copy with the known fields. @throws Error if it cannot be asked. */
export function readQuestion(redactor: Redactor, given: unknown): Question {
  const { text, options, form, url, from } = (plainJson(given) ?? {}) as { readonly [Name in keyof Question]?: Json }
  if (typeof text !== 'string') throw new Error('A question needs a text.')
  const hidden = (value: string, most = maxTextLength): string => cutText(redactor.text(value), most)
  const choices = Array.isArray(options) ? options.filter((each) => typeof each === 'string') : []
  return {
    text: hidden(text),
    ...(choices.length > 0 && { options: choices.map((each) => hidden(each)) }),
    ...(form !== undefined && { form: readForm(redactor, form) }),
    ...(url !== undefined && { url: readUrl(redactor, url) }),
    ...(typeof from === 'string' && { from: hidden(from, 200) }),
  }
}

function readForm(redactor: Redactor, form: Json): JsonObject {
  if (JSON.stringify(form).length > maxFormLength) throw new Error(`The form of a question has more than ${maxFormLength} characters.`)
  const schema = redactor.json(form) as JsonObject
  formFields(schema)
  return schema
}

function readUrl(redactor: Redactor, url: Json): string {
  const parsed = typeof url === 'string' && url.length <= maxUrlLength && /^https?:\/\/[^\s/]/i.test(url) ? URL.parse(url) : null
  if (!parsed) throw new Error('url: expected an http or https address')
  return redactor.text(parsed.href)
}

/** @throws Error if one of them cannot be asked. */
export function readToolQuestions(redactor: Redactor, given: unknown): ToolQuestions {
  const { questions, state } = plainJson(given) ?? {}
  const entries = Object.entries(typeof questions === 'object' && questions !== null ? questions : {})
  if (entries.length === 0 || entries.length > maxQuestions) throw new Error(`ask.questions: expected 1 to ${maxQuestions} questions by id`)
  return {
    questions: Object.fromEntries(entries.map(([id, question]) => [id, readQuestion(redactor, question)])),
    // The journal contains no secrets, even if the tool needs them back.
    ...(state !== undefined && { state: redactor.json(state) }),
  }
}
