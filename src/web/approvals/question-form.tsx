import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { JsonObject, JsonSchema } from '../../contracts/index.ts'
import { type FormField, formFields } from '../../policy/form-fields.ts'
import { sentenceOf } from '../state/actions.ts'
import { type EnteredValue, fillForm, presetValues } from './form-values.ts'

interface QuestionFormProps {
  readonly form: JsonSchema
  readonly children: ComponentChildren
  onFilled(content: JsonObject): void
}

/** The fields of a question. They are checked here, so that a mistake is shown beside its field. */
export function QuestionForm({ form, children, onFilled }: QuestionFormProps) {
  const [{ fields, unreadable }] = useState(() => readForm(form))
  const [entered, setEntered] = useState(() => presetValues(fields))
  const [problems, setProblems] = useState<{ readonly [field: string]: string }>({})
  return (
    <form
      class="approval-form stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const filled = fillForm(fields, entered)
        setProblems(filled.kind === 'problems' ? filled.problems : {})
        if (filled.kind === 'content') onFilled(filled.content)
        else event.currentTarget.querySelector<HTMLElement>(`[name="${CSS.escape(Object.keys(filled.problems)[0] ?? '')}"]`)?.focus()
      }}
    >
      {unreadable !== undefined && <p class="tone-error">This form cannot be shown: {unreadable}.</p>}
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={entered[field.name] ?? ''}
          problem={problems[field.name]}
          onChange={(value) => setEntered({ ...entered, [field.name]: value })}
        />
      ))}
      <div class="line">
        {unreadable === undefined && (
          <button type="submit" class="button button-primary">
            Submit
          </button>
        )}
        {children}
      </div>
    </form>
  )
}

function readForm(form: JsonSchema): { readonly fields: readonly FormField[]; readonly unreadable?: string } {
  try {
    return { fields: formFields(form) }
  } catch (error) {
    return { fields: [], unreadable: sentenceOf(error) }
  }
}

interface FieldProps {
  readonly field: FormField
  readonly value: EnteredValue
  readonly problem: string | undefined
  onChange(value: EnteredValue): void
}

function Field(props: FieldProps) {
  const id = useId()
  const { field, problem } = props
  const { title, description, isRequired, type } = field
  const Name = type.kind === 'choices' ? 'span' : 'label'
  const name = (
    <Name {...(type.kind === 'choices' ? { id: `${id}-name` } : { for: id })}>
      {title}
      {isRequired && <span class="muted"> (required)</span>}
    </Name>
  )
  const input = <Input {...props} id={id} />
  return (
    <div class="approval-field stack">
      {type.kind === 'boolean' ? (
        <div class="line">
          {input}
          {name}
        </div>
      ) : (
        name
      )}
      {description !== undefined && <p class="muted small">{description}</p>}
      {type.kind !== 'boolean' && input}
      {problem !== undefined && (
        <p class="tone-error" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

const textInputs = {
  email: { inputMode: 'email', placeholder: 'name@example.com' },
  uri: { inputMode: 'url', placeholder: 'https://example.com' },
  date: { inputMode: 'text', placeholder: '2026-01-31' },
  'date-time': { inputMode: 'text', placeholder: '2026-01-31T12:00:00Z' },
} as const

function Input({ field: { name, type, isRequired }, value, problem, onChange, id }: FieldProps & { readonly id: string }) {
  const described = problem === undefined ? undefined : `${id}-problem`
  const shared = { id, name, 'aria-invalid': problem !== undefined, 'aria-describedby': described }
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void => onChange(currentTarget.value)
  switch (type.kind) {
    case 'boolean':
      return (
        <input {...shared} type="checkbox" checked={value === true} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      )
    case 'choice':
      return (
        <select {...shared} class="field" value={String(value)} required={isRequired} onChange={onInput}>
          <option value="">–</option>
          {type.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )
    case 'choices': {
      const chosen = Array.isArray(value) ? (value as readonly string[]) : []
      return (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset inside of the card would be disabled by itself
        <div role="group" aria-labelledby={`${id}-name`} aria-describedby={described} class="approval-choices">
          {type.choices.map((choice) => (
            <label key={choice.value}>
              <input
                type="checkbox"
                name={name}
                checked={chosen.includes(choice.value)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange(checked ? [...chosen, choice.value] : chosen.filter((each) => each !== choice.value))
                }
              />{' '}
              {choice.label}
            </label>
          ))}
        </div>
      )
    }
    default: {
      const look = type.kind === 'text' ? type.format && textInputs[type.format] : { inputMode: 'decimal' as const }
      return <input {...shared} {...look} class="field" type="text" required={isRequired} value={String(value)} onInput={onInput} />
    }
  }
}
