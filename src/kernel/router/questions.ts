import type { ApprovalDecision, ApprovalRequest, ChannelRequest, Json } from '../../contracts/index.ts'
import { contentProblem, formFields } from '../../policy/form-fields.ts'
import { parseField } from '../../policy/parse-field.ts'
import { cutText } from '../../util/well-formed.ts'
import { requestSummary } from '../../view/index.ts'

// Requests as messages, and the meaning of what the person answers. Pure.

const mostChars = 4_000
const mostValueChars = 600

interface QuestionText {
  readonly text: string
  readonly options: readonly string[]
}

export function questionText(request: ApprovalRequest): QuestionText {
  const { question, summary, reason, input, diff, inside, keys } = request
  if (question) {
    const { text, from, url, form, options = [] } = question
    const lines = [from === undefined ? text : `${from} asks: ${text}`, url ?? '', ...(form ? formLines(form) : [])]
    return { text: joined(lines), options: url === undefined ? options : ['done', 'no'] }
  }
  const lines = [
    `Approval needed: ${summary}`,
    reason === undefined ? '' : `Reason: ${reason}`,
    ...Object.entries(input).map(([name, value]) => `  ${name}: ${shown(value)}`),
    diff ?? '',
    inside ? `It failed in the sandbox: ${inside.error.message}` : '',
  ]
  return { text: joined(lines), options: ['yes', 'no', ...(keys.length > 0 ? ['always'] : [])] }
}

/** The same as data. `mayApprove`: whether the channel may answer it with an approval. */
export function requestData(request: ApprovalRequest, { mayApprove }: { readonly mayApprove: boolean }): ChannelRequest {
  const { id, tool, question, reason, input, diff, inside, keys } = request
  if (question) {
    const { text, from, url, form, options } = question
    const title = cut(from === undefined ? text : `${from} asks: ${text}`, mostChars)
    return {
      id,
      kind: form ? 'form' : 'question',
      title,
      ...(options && { options }),
      ...(form && { form }),
      ...(url !== undefined && { url }),
    }
  }
  const breadths = keys.length > 0 ? (['once', 'session', 'project'] as const) : (['once'] as const)
  return {
    ...{ id, kind: 'approval', title: cut(requestSummary(request), mostValueChars), tool },
    input: Object.entries(input).map(([name, value]) => ({ name, value: shown(value) })),
    ...(reason !== undefined && { reason }),
    ...(diff !== undefined && { diff: cut(diff, mostChars) }),
    ...(inside && { failure: inside.error.message }),
    breadths: mayApprove ? breadths : [],
    ...(keys.length > 0 && { covers: keys.map(({ label }) => label) }),
  }
}

const joined = (lines: readonly string[]): string => cut(lines.filter((line) => line !== '').join('\n'), mostChars)

function shown(value: Json | undefined): string {
  return cut(typeof value === 'string' ? value : JSON.stringify(value ?? null), mostValueChars)
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${cutText(text, most)}… (${text.length - most} more characters)`

/** A text: why it is no answer, and what would be one. */
export function parseAnswer(typed: string, request: ApprovalRequest): ApprovalDecision | string {
  const text = typed.trim()
  const { question } = request
  if (question && !question.form && question.url === undefined) return { kind: 'answer', text: chosenOption(text, question.options ?? []) }
  const no = denial.exec(text)
  if (no) return no[1] ? { kind: 'deny', feedback: no[1] } : { kind: 'deny' }
  if (question?.form) return formAnswer(text, question.form)
  if (question) return /^(?:done|y|yes|ok)[.!]?$/i.test(text) ? { kind: 'answer', text: 'done' } : 'Answer done when you are done, or no.'
  if (/^(?:y|yes|ok)[.!]?$/i.test(text)) return { kind: 'approve', breadth: 'once' }
  if (/^always[.!]?$/i.test(text) && request.keys.length > 0) return { kind: 'approve', breadth: 'session' }
  return approvalHint(request)
}

/** `no`, `No, not there`, `no because it is late`. */
const denial = /^no?(?:[\s,;:.!–—-]+(.*))?$/is

const approvalHint = ({ keys }: ApprovalRequest): string =>
  `A request waits for your answer: yes, no${keys.length > 0 ? ', or always (for this conversation)' : ''}. You can add a reason: no because … To end the task: /stop.`

/** An option by its number or in another case. Any other text is an answer, too. */
function chosenOption(text: string, options: readonly string[]): string {
  const numbered = /^\d+$/.test(text) && !options.includes(text) ? options[Number(text) - 1] : undefined
  return numbered ?? options.find((option) => option.toLowerCase() === text.toLowerCase()) ?? text
}

type Form = NonNullable<NonNullable<ApprovalRequest['question']>['form']>

const formHint = 'Answer with a line `field: value` for each field, or no.'

function formLines(form: Form): readonly string[] {
  const lines = formFields(form).map(({ name, title, isRequired, type }) => {
    const values = 'choices' in type ? ` (${type.choices.map(({ value }) => value).join(', ')})` : ''
    return `  ${name}${title === name ? '' : ` (${title})`}: ${type.kind}${values}${isRequired ? '' : ', optional'}`
  })
  return [...lines, formHint]
}

/** Lines, or the value alone if the form has one field. */
function formAnswer(text: string, form: Form): ApprovalDecision | string {
  const fields = formFields(form)
  const [only, more] = fields
  const isValue = only && !more && !/^[^:\n]+:/.test(text)
  const lines = isValue
    ? [[only.name, text] as const]
    : text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map(splitLine)
  const content: { [name: string]: Json } = {}
  for (const [name, typed] of lines) {
    const field = fields.find((each) => [each.name, each.title].some((known) => known.toLowerCase() === name.toLowerCase()))
    if (!field) return `There is no field ${JSON.stringify(name)}. ${formHint}`
    const parsed = parseField(field, typed)
    if (parsed.kind === 'wrong') return `${field.title}: ${parsed.message}. ${formHint}`
    if (parsed.kind === 'value') content[field.name] = parsed.value
  }
  const problem = contentProblem(form, content)
  return problem === undefined ? { kind: 'answer', text: '', content } : `${problem}. ${formHint}`
}

function splitLine(line: string): readonly [string, string] {
  const [, name = line, typed = ''] = /^\s*([^:]*?)\s*:\s*(.*?)\s*$/.exec(line) ?? []
  return [name, typed]
}
