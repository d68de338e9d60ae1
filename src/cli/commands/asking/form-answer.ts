import type { ApprovalDecision, Json, JsonSchema } from '../../../contracts/index.ts'
import { type FormField, formFields } from '../../../policy/form-fields.ts'
import { parseField } from '../../../policy/parse-field.ts'
import { exactLine, exactLines, exactText } from '../../terminal/exact-text.ts'
import type { NextLine } from '../../terminal/read-line.ts'
import { cancelChoice } from './answer-choices.ts'
import { indent, type QuestionStyle } from './question-details.ts'

// Forms at a terminal: shown as a list of fields, filled in field by field.

/** All fields. The texts are of a server: each of its lines has a bar. */
export function formLines(form: JsonSchema, { paint, width }: QuestionStyle): readonly string[] {
  const bar = paint('dim', '│')
  return formFields(form).flatMap((field) => {
    const { name, title, description } = field
    const named = title === name ? name : `${title} (${name})`
    const room = width - indent.length * 2 - 2
    return [
      ...exactLines(`${named}: ${expectedText(field)}`, room).map((line) => `${indent}${bar} ${line}`),
      ...(description === undefined ? [] : exactLines(description, room).map((line) => `${indent}${bar}   ${paint('dim', line)}`)),
    ]
  })
}

function expectedText({ type, isRequired, default: preset }: FormField): string {
  const notes = [
    type.kind === 'choices' ? 'comma-separated' : '',
    boundsText(type),
    isRequired ? 'required' : 'optional',
    preset === undefined ? '' : `default ${shown(preset)}`,
  ].filter((note) => note !== '')
  return `${kindText(type)} (${notes.join(', ')})`
}

function kindText(type: FormField['type']): string {
  switch (type.kind) {
    case 'text':
      return type.format ?? 'text'
    case 'choice':
    case 'choices': {
      const choices = type.choices.map(({ value, label }, index) => `${index + 1} ${label === value ? value : `${label} [${value}]`}`)
      return `${type.kind === 'choice' ? 'one of' : 'some of'} ${choices.join(', ')}`
    }
    case 'boolean':
      return 'yes or no'
    default:
      return type.kind
  }
}

function boundsText(type: FormField['type']): string {
  const { least, most } = type.kind === 'boolean' || type.kind === 'choice' ? {} : type
  const unit = type.kind === 'text' ? ' characters' : ''
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`
  return least !== undefined ? `at least ${least}${unit}` : most !== undefined ? `at most ${most}${unit}` : ''
}

function shown(value: Json): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(shown).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const cancelWord = '/cancel'

/** Where a person answers. */
export interface FormTerminal {
  show(line: string): Promise<void>
  /** Shows a hint about a wrong value. */
  hint(text: string): Promise<void>
  read(): Promise<NextLine>
}

/** Asks for each field until its value is valid. */
export async function fillForm(form: JsonSchema, terminal: FormTerminal): Promise<ApprovalDecision | Exclude<NextLine, { kind: 'line' }>> {
  const content: [string, Json][] = []
  await terminal.hint(`An empty line takes the default, or skips an optional field. ${cancelWord} cancels the form.`)
  for (const field of formFields(form)) {
    await terminal.show(`${exactLine(field.title)}: ${exactLine(expectedText(field))}`)
    for (;;) {
      const line = await terminal.read()
      if (line.kind !== 'line') return line
      const typed = line.text.trim()
      if (typed === cancelWord) return cancelChoice.decision
      const parsed = parseField(field, typed)
      if (parsed.kind === 'value') content.push([field.name, parsed.value])
      if (parsed.kind !== 'wrong') break
      await terminal.hint(asHint(parsed.message))
    }
  }
  return { kind: 'answer', text: '', content: Object.fromEntries(content) }
}

const asHint = (problem: string): string => `${problem.charAt(0).toUpperCase()}${exactText(problem.slice(1))}.`
