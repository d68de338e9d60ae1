// Agents under the names that the conformance suite calls.
import type { Model, ModelPart, ModelRequest, Tool } from '../../src/contracts/index.ts'
import type { ServedOptions } from './support.ts'

const empty = { type: 'object', properties: {} } as const
const text = { type: 'string' } as const
const choices = (titles: readonly string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }))
const options = ['option1', 'option2', 'option3']

/** Forms by the agent that asks. */
const forms: { readonly [agent: string]: object } = {
  test_elicitation: { username: text, email: text },
  test_input_required_result_elicitation: { name: text },
  test_elicitation_sep1034_defaults: {
    name: { ...text, default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { ...text, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { ...text, enum: options },
    titledSingle: { ...text, oneOf: choices(['First Option', 'Second Option']) },
    legacyEnum: { ...text, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { ...text, enum: options } },
    titledMulti: { type: 'array', items: { anyOf: choices(['First Choice', 'Second Choice']) } },
  },
}

const draft2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: text, city: text } } },
  properties: {
    name: text,
    address: { $ref: '#/$defs/address' },
    contactMethod: { ...text, enum: ['phone', 'email'] },
    phone: text,
    email: text,
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

const tools: readonly Tool[] = [
  { name: 'work', description: 'Works.', inputSchema: empty, effect: 'read', execute: async () => 'worked' },
  {
    name: 'ask',
    description: 'Asks.',
    inputSchema: { type: 'object', properties: { form: text } },
    effect: 'read',
    async execute({ form }, { answers }) {
      const given = answers?.form
      if (given) return JSON.stringify(given)
      const properties = forms[String(form)] ?? {}
      const question = { text: 'Please answer.', form: { type: 'object', properties, required: Object.keys(properties) } }
      return { ok: false, error: { class: 'failed', message: 'nobody answered' }, ask: { questions: { form: question } } }
    },
  },
]

/** Its name says what it does: `say`, `fail`, `work` (three times) or `ask/AGENT`. */
const modelOf = (id: string): Model => ({
  id,
  abilities: ['tools'],
  async *stream({ messages }: ModelRequest): AsyncGenerator<ModelPart> {
    const [, task, form] = id.split('/')
    const results = messages.filter(({ role }) => role === 'tool').length
    const isLast = task === 'say' || results === (task === 'work' ? 3 : 1)
    if (task === 'fail') yield { type: 'error', failure: { class: 'auth', message: 'This agent fails.' } }
    else if (isLast) yield { type: 'text', text: 'This is a simple text response for testing.' }
    else yield { type: 'call', id: `call-${results}`, name: String(task), input: JSON.stringify(form === undefined ? {} : { form }) }
    yield { type: 'finish', reason: isLast ? 'stop' : 'tool-calls' }
  },
})

const agent = (name: string, model: string, schema: object = empty) => ({
  name,
  description: name,
  prompt: 'Work.',
  model: `conformance/${model}`,
  tools: ['*'],
  input: { format: 'json' as const, schema: schema as never },
})

export const conformanceAgents: ServedOptions = {
  tools,
  model: { resolve: modelOf },
  agents: [
    agent('test_simple_text', 'say'),
    agent('test_error_handling', 'fail'),
    agent('test_tool_with_progress', 'work'),
    agent('json_schema_2020_12_tool', 'say', draft2020),
    ...Object.keys(forms).map((name) => agent(name, `ask/${name}`, { type: 'object', properties: { message: text } })),
  ],
}
