import { type Problem, TroupeError } from '../../contracts/index.ts'
import type { Rendered } from './engine.ts'
import { explainFailure } from './explain-failure.ts'
import { collectIncludes, type IncludeFiles, type TemplateText } from './includes.ts'
import { isTemplate } from './scan-template.ts'

/**
 * What a prompt may speak of. All of it stands in the agent file, so that the same file always gives the same prompt: variables
 * of the environment could be secrets, and what changes from call to call would spoil the provider's cache.
 */
export interface PromptVariables {
  readonly agent: { readonly name: string; readonly description: string }
  /** Names and patterns, as the file lists them. */
  readonly tools: readonly string[]
  readonly output: { readonly format: string }
  readonly limits: { readonly maxToolTurns: number }
}

const promptName = '<prompt>'
const maxLength = 1_048_576
// By these names the engine would choose an escaping.
const escaped = /\.(?:html?|xml|json5?|js|ya?ml)(?:\.j2|\.jinja2?)?$/i
const opening = '{% autoescape false %}'
const ending = '{% endautoescape %}'

/** The prompt of an agent file with everything filled in. Throws `agent_file_invalid` with everything that is wrong. */
export async function renderPrompt(prompt: TemplateText, variables: PromptVariables, files?: IncludeFiles): Promise<string> {
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

/** On the same lines as before. A template loses the newline at its end, so this one does too. */
const unescaped = (text: string): string => `${opening}${text.replace(/\n$/, '')}${ending}`

function textOf(prompt: TemplateText, rendered: Rendered, explain: (message: string) => Problem): string {
  const place = `${prompt.place}:${prompt.firstLine}:1`
  switch (rendered.kind) {
    case 'text': {
      const text = rendered.text.trim()
      if (text === '')
        throw invalid(prompt, [
          { place, message: 'nothing is left of the prompt once it is filled in', remedy: 'Say something outside of conditions.' },
        ])
      if (text.length > maxLength)
        throw invalid(prompt, [
          {
            place,
            message: `the prompt is longer than ${maxLength} characters once it is filled in`,
            remedy: 'Include less, or let the agent read it with tools.',
          },
        ])
      return text
    }
    case 'failed':
      throw invalid(prompt, unique(rendered.messages.map(explain)))
    case 'exhausted': {
      const message = rendered.of === 'time' ? 'the template takes too long' : 'the template takes too much memory'
      throw invalid(prompt, [{ place, message, remedy: 'Look for a loop or a filter that makes something very large.' }])
    }
    default:
      return rendered satisfies never
  }
}

function invalid({ place }: TemplateText, problems: readonly Problem[]): TroupeError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new TroupeError('agent_file_invalid', `the prompt of ${place} has ${count}`, { problems: problems.slice(0, 25) })
}

const unique = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((each) => [each.place + each.message, each])).values(),
]

/** `agent.name`, `tools`, … */
function knownNames(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? knownNames(each, `${prefix}${key}.`) : [`${prefix}${key}`],
  )
}
