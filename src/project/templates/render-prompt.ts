import { type JsonObject, type Problem, TroupeError } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { plural } from '../../util/plural.ts'
import { maxReported } from '../../yaml/source-text.ts'
import type { Rendered } from './engine.ts'
import { explainFailure } from './explain-failure.ts'
import { collectIncludes, type IncludeFiles, type TemplateText } from './includes.ts'
import { isTemplate } from './scan-template.ts'

/** Only from the agent file: the environment may contain secrets, and changing values would defeat the provider's cache. */
export interface PromptVariables {
  readonly agent: { readonly name: string; readonly description: string }
  readonly tools: readonly string[]
  readonly output: { readonly format: string }
  readonly limits: { readonly maxToolTurns: number }
}

const promptName = '<prompt>'
const maxLength = 1_048_576
// The engine would escape in files with these names.
const escaped = /\.(?:html?|xml|json5?|js|ya?ml)(?:\.j2|\.jinja2?)?$/i
const opening = '{% autoescape false %}'
const ending = '{% endautoescape %}'

/** Renders the prompt of an agent file. Throws `agent_file_invalid` with all problems. */
export async function renderPrompt(prompt: TemplateText, variables: PromptVariables | JsonObject, files?: IncludeFiles): Promise<string> {
  if (!isTemplate(prompt.text)) return prompt.text
  const { texts, problems } = collectIncludes(prompt, files)
  if (problems.length > 0) throw invalid(prompt, problems)
  const { loadEngine } = await import('./engine.ts')
  const engine = await loadEngine()
  const included = [...texts].map(([name, { text }]) => [name, escaped.test(name) ? unescaped(text) : text] as const)
  const rendered = engine.render({
    templates: new Map([...included, [promptName, prompt.text]]),
    main: promptName,
    variables: { ...variables },
  })
  const all = new Map([...texts, [promptName, prompt]])
  const known = knownNames(variables)
  const shiftOf = (name: string): number => (texts.has(name) && escaped.test(name) ? opening.length : 0)
  return textOf(prompt, rendered, (message) => explainFailure(message, { texts: all, known, shiftOf }))
}

/** Keeps lines. A template loses its final newline, so this does too. */
const unescaped = (text: string): string => `${opening}${text.replace(/\n$/, '')}${ending}`

function textOf(prompt: TemplateText, rendered: Rendered, explain: (message: string) => Problem): string {
  const place = `${prompt.place}:${prompt.firstLine}:1`
  switch (rendered.kind) {
    case 'text': {
      const text = rendered.text.trim()
      if (text === '')
        throw invalid(prompt, [{ place, message: 'the rendered prompt is empty', remedy: 'Write text outside of conditions.' }])
      if (text.length > maxLength)
        throw invalid(prompt, [
          {
            place,
            message: `the prompt is longer than ${maxLength} characters after rendering`,
            remedy: 'Include less, or give the agent a tool to read it.',
          },
        ])
      return text
    }
    case 'failed':
      throw invalid(prompt, unique(rendered.messages.map(explain)))
    case 'exhausted': {
      const message = rendered.of === 'time' ? 'the template takes too long' : 'the template takes too much memory'
      throw invalid(prompt, [{ place, message, remedy: 'Look for a loop or a filter with a very large result.' }])
    }
    default:
      return rendered satisfies never
  }
}

function invalid({ place }: TemplateText, problems: readonly Problem[]): TroupeError {
  return new TroupeError('agent_file_invalid', `the prompt of ${place} has ${plural(problems.length, 'problem')}`, {
    problems: problems.slice(0, maxReported),
  })
}

const unique = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((each) => [each.place + each.message, each])).values(),
]

/** `agent.name`, `tools`, … */
function knownNames(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    isRecord(each) ? knownNames(each, `${prefix}${key}.`) : [`${prefix}${key}`],
  )
}
