import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { JsonObject, JsonSchema } from '../../contracts/index.ts'
import { type FormField, formFields } from '../../policy/form-fields.ts'
import { sentenceOf } from '../state/actions.ts'
import { type EnteredValue, fillForm, presetValues } from './form-values.ts'

interface QuestionFormProps {
  readonly form: JsonSchema
  /** Buttons beside the one that submits. */
  readonly children: ComponentChildren
  onFilled(content: JsonObject): void
}

/** The fields of a question. They are checked here, so that a mistake is shown beside its field. */
export function QuestionForm({ form, children, onFilled }: QuestionFormProps) {
  const [fields] = useState(() => readForm(form))
  if (typeof fields !== 'string')
    return (
      <Fields fields={fields} onFilled={onFilled}>
        {children}
      </Fields>
    )
  return (
    <>
      <p class="tone-error">This form cannot be shown: {fields}.</p>
      <div class="line">{children}</div>
    </>
  )
}

function readForm(form: JsonSchema): readonly FormField[] | string {
  try {
    return formFields(form)
  } catch (error) {
    return sentenceOf(error)
  }
}

function Fields({ fields, children, onFilled }: Omit<QuestionFormProps, 'form'> & { readonly fields: readonly FormField[] }) {
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
        <button type="submit" class="button button-primary">
          Submit
        </button>
        {children}
      </div>
    </form>
  )
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
  const name = (
    <>
      {title}
      {isRequired && <span class="muted"> (required)</span>}
    </>
  )
  const label = type.kind === 'choices' ? <span id={`${id}-name`}>{name}</span> : <label for={id}>{name}</label>
  const input = <Input {...props} id={id} />
  const isCheckbox = type.kind === 'boolean'
  return (
    <div class="approval-field stack">
      {isCheckbox ? (
        <div class="line">
          {input}
          {label}
        </div>
      ) : (
        label
      )}
      {description !== undefined && <p class="muted small">{description}</p>}
      {!isCheckbox && input}
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
  const shared = {
    id,
    name,
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem === undefined ? undefined : `${id}-problem`,
  }
  switch (type.kind) {
    case 'boolean':
      return (
        <input {...shared} type="checkbox" checked={value === true} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      )
    case 'choice':
      return (
        <select
          {...shared}
          class="field"
          value={String(value)}
          required={isRequired}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
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
        <div role="group" aria-labelledby={`${id}-name`} aria-describedby={shared['aria-describedby']} class="approval-choices">
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
      return (
        <input
          {...shared}
          {...look}
          class="field"
          type="text"
          required={isRequired}
          value={String(value)}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    }
  }
}
