import type { JsonObject, Problem } from '../../contracts/index.ts'
import { explainFailure } from './explain-failure.ts'
import { collectIncludes, type TemplateText } from './includes.ts'
import { isTemplate } from './scan-template.ts'

type RenderedText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problems: readonly Problem[] }

const mainName = '<text>'

/** Renders a template that includes nothing. The values are text: nothing in them is read as a template. */
export async function renderText(template: TemplateText, variables: JsonObject): Promise<RenderedText> {
  return isTemplate(template.text) ? render(template, { main: mainName, variables }) : { ok: true, text: template.text }
}

/** Whether it can be read, without values. */
export async function templateProblems(template: TemplateText): Promise<readonly Problem[]> {
  const read = isTemplate(template.text) ? await render(template, { main: 'nothing', variables: {} }) : undefined
  return read?.ok === false ? read.problems : []
}

interface Rendering {
  readonly main: string
  readonly variables: JsonObject
}

async function render(template: TemplateText, { main, variables }: Rendering): Promise<RenderedText> {
  const { problems } = collectIncludes(template, undefined)
  if (problems.length > 0) return { ok: false, problems }
  const { loadEngine } = await import('./engine.ts')
  const templates = new Map([
    [mainName, template.text],
    ['nothing', ''],
  ])
  const rendered = (await loadEngine()).render({ templates, main, variables })
  if (rendered.kind === 'text') return { ok: true, text: rendered.text }
  if (rendered.kind === 'exhausted') {
    const message = rendered.of === 'time' ? 'the template takes too long' : 'the template takes too much memory'
    const place = `${template.place}:${template.firstLine}:1`
    return { ok: false, problems: [{ place, message, remedy: 'Look for a loop or a filter with a very large result.' }] }
  }
  const known = Object.keys(variables)
  const texts = new Map([[mainName, template]])
  return { ok: false, problems: rendered.messages.map((message) => explainFailure(message, { texts, known, shiftOf: () => 0 })) }
}
