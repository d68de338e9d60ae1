import type { ModalElement } from 'chat'
import type { ChannelRequest, Json, JsonObject } from 'troupe/extension'
import { isObject } from '../is-object.ts'
import { cut } from '../outgoing/request-card.ts'
import type { StoredRequest } from '../state/requests.ts'

export const forms = { reason: 'deny-reason', fields: 'form-fields' } as const
const longestText = 3_000
const mostChoices = 100
/** Slack cuts longer ones. */
const longestTitle = 24

type Child = ModalElement['children'][number]

/** For the reason of a denial, or the fields of a form. */
export function requestForm(kind: keyof typeof forms, { key, request }: StoredRequest): ModalElement {
  const reason: Child = {
    type: 'text_input',
    id: 'reason',
    label: 'Reason',
    multiline: true,
    maxLength: longestText,
    placeholder: 'The agent reads it.',
  }
  return {
    type: 'modal',
    callbackId: forms[kind],
    title: cut(kind === 'reason' ? 'Deny' : request.title, longestTitle),
    submitLabel: kind === 'reason' ? 'Deny' : 'Send',
    privateMetadata: key,
    children: [
      { type: 'text', content: cut(request.title, longestText) },
      ...(kind === 'reason' ? [reason] : fieldsOf(request).map(inputOf)),
    ],
  }
}

interface Field {
  readonly name: string
  readonly schema: JsonObject
  readonly isRequired: boolean
}

function fieldsOf({ form = {} }: ChannelRequest): readonly Field[] {
  const { properties, required } = form as { readonly properties?: unknown; readonly required?: unknown }
  const names = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema: isObject(schema) ? schema : {},
    isRequired: names.includes(name),
  }))
}

function inputOf({ name, schema, isRequired }: Field): Child {
  const { title, description, type, enum: choices, minimum, maximum, default: initial } = schema
  const hint = typeof description === 'string' ? { placeholder: cut(description, 150) } : {}
  const common = { id: name, label: cut(typeof title === 'string' ? title : name, longestText / 2), optional: !isRequired }
  const values = type === 'boolean' ? ['yes', 'no'] : Array.isArray(choices) ? choices.map(String) : undefined
  if (values) {
    const options = values.slice(0, mostChoices).map((value) => ({ label: cut(value, 75), value: cut(value, 150) }))
    const given = initial === true ? 'yes' : initial === false ? 'no' : initial
    return { type: 'select', ...common, options, ...(typeof given === 'string' && values.includes(given) && { initialOption: given }) }
  }
  if (type === 'number' || type === 'integer') {
    const bounds = { ...(typeof minimum === 'number' && { min: minimum }), ...(typeof maximum === 'number' && { max: maximum }) }
    const start = typeof initial === 'number' ? { initialValue: initial } : {}
    return { type: 'number_input', ...common, ...hint, decimal: type === 'number', ...bounds, ...start }
  }
  return { type: 'text_input', ...common, ...hint, maxLength: longestText, ...(typeof initial === 'string' && { initialValue: initial }) }
}

/** What a person has filled in, by the types of the form. Fields that are empty are left out. */
export function formContent(request: ChannelRequest, values: { readonly [id: string]: string }): JsonObject {
  const typed = (value: string, type: unknown): Json =>
    type === 'number' || type === 'integer' ? Number(value) : type === 'boolean' ? value === 'yes' : value
  const given = fieldsOf(request).map(({ name, schema }) => ({ name, value: values[name] ?? '', type: schema.type }))
  return Object.fromEntries(given.filter(({ value }) => value !== '').map(({ name, value, type }) => [name, typed(value, type)]))
}
