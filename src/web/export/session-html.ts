import type { InputPart, OutputPart, SessionExport } from '../../contracts/index.ts'
import { turnEndTexts } from '../../policy/limit-texts.ts'
import {
  type AgentNode,
  applyEvent,
  type CallNode,
  callTimes,
  childrenOf,
  duration,
  emptyTree,
  failedInside,
  price,
  type StepNode,
  size,
  type TurnNode,
  taskText,
  timeText,
  tokenWords,
  turnTimes,
  workTime,
} from '../../view/index.ts'
import { diffRows } from '../ui/diff-rows.ts'
import { exportStyles } from './export-styles.ts'

// A session as one HTML file without scripts, that needs nothing else.
//
// 1. Every text goes through `escaped`, or through `markdown`, which sanitises it.
// 2. The policy of the file forbids scripts and requests, whatever is inside.

type Blobs = SessionExport['blobs']

interface Writer {
  readonly blobs: Blobs
  /** Markdown of an untrusted text as safe HTML. */
  markdown(text: string): string
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll('\0', '\ufffd')

export function sessionHtml({ session, events, blobs }: SessionExport, { markdown }: Pick<Writer, 'markdown'>): string {
  const tree = emptyTree({ keepsContent: true })
  for (const event of events) applyEvent(tree, event)
  const [root] = tree.roots
  const title = escaped(session.title || session.agent)
  const about = [session.agent, root?.spec?.models[0] ?? '', timeText(Number(new Date(session.createdAt))), session.status]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${exportStyles}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="muted">${about.filter(Boolean).map(escaped).join(' · ')}</p>
${root ? agentHtml(root, { blobs, markdown }) : ''}
</main>
</body>
</html>
`
}

function agentHtml(agent: AgentNode, writer: Writer): string {
  const shown = new Set<string>()
  const messages = (ids: readonly string[]): string =>
    agent.messages
      .filter(({ id }) => ids.includes(id) && !shown.has(id))
      .map(({ id, parts }) => {
        shown.add(id)
        return messageHtml(parts, writer)
      })
      .join('')
  const earlier = agent.history.map((message) => {
    if (message.role === 'tool')
      return message.results.map(({ name, content }) => `<section class="call"><h3>${escaped(name)}</h3>${pre(content)}</section>`).join('')
    const parts = message.parts.filter((part): part is InputPart => part.type === 'text' || part.type === 'image' || part.type === 'file')
    return message.role === 'user'
      ? messageHtml(parts, writer)
      : parts.map((part) => (part.type === 'text' ? writer.markdown(part.text) : '')).join('')
  })
  const turns = agent.turns.map((turn) => {
    const steps = turn.steps.map((step) => messages(step.absorbed) + stepHtml(step, writer)).join('')
    return `${messages(turn.inputs)}<article>${steps}${planHtml(turn)}${endingHtml(turn)}</article>`
  })
  // Accepted, and not read by a turn yet.
  return [...earlier, ...turns, messages(agent.messages.map(({ id }) => id))].join('\n')
}

const messageHtml = (parts: readonly InputPart[], writer: Writer): string =>
  `<section class="message">${parts.map((part) => partHtml(part, writer)).join('')}</section>`

function partHtml(part: InputPart, { blobs }: Writer): string {
  if (part.type === 'text') return `<p class="text">${escaped(part.text)}</p>`
  const stored = part.data.startsWith('blob:') ? blobs[part.data.slice('blob:'.length)] : undefined
  const data = typeof stored === 'object' ? stored.data : part.data
  if (part.type === 'image') return imageHtml(part.mediaType, data)
  return `<p class="muted">File: ${escaped(part.name ?? part.mediaType)}${part.bytes === undefined ? '' : `, ${size(part.bytes)}`}</p>`
}

function imageHtml(mediaType: string, data: string): string {
  const isShown = /^image\/(?:png|jpeg|gif|webp)$/.test(mediaType) && /^[A-Za-z0-9+/=]+$/.test(data)
  return isShown ? `<img alt="" src="data:${mediaType};base64,${data}">` : `<p class="muted">Image: ${escaped(mediaType)}</p>`
}

function stepHtml({ texts, attempts, calls, rejected }: StepNode, writer: Writer): string {
  const failures = attempts.flatMap(({ failure, model }) =>
    failure ? [`<p class="error">${escaped(model)}: ${escaped(failure.class)}: ${escaped(failure.message)}</p>`] : [],
  )
  const words = texts.map(({ type, text }) => {
    if (type === 'agent_message') return `<div class="answer">${writer.markdown(text)}</div>`
    return type === 'reasoning' ? `<p class="text muted">${escaped(text)}</p>` : `<p class="text error">${escaped(text)}</p>`
  })
  const problems = (rejected?.problems ?? []).map((problem) => `<p class="error">Rejected answer: ${escaped(problem)}</p>`)
  return [...failures, ...words, ...problems, ...calls.map((call) => callHtml(call, writer))].join('\n')
}

function callHtml(call: CallNode, writer: Writer): string {
  const { name, about, status, latencyMs, input, content, error, changes = [], output, parts = [] } = call
  const agents = childrenOf(call)
  const failed = failedInside(call)
  const time = agents.length > 0 ? workTime(callTimes(call)) : latencyMs === undefined ? '' : duration(latencyMs)
  const head = [status, failed > 0 ? `${failed} failed inside` : '', time].filter(Boolean).join(' · ')
  const result = error
    ? `<p class="error text">${escaped(`${error.class}: ${error.message}${error.remedy ? ` ${error.remedy}` : ''}`)}</p>`
    : pre(content ?? output ?? '')
  return `<section class="call"><h3>${escaped(name)} <span>${escaped(about || taskText(call.child ?? {}))}</span> <small>${escaped(head)}</small></h3>
${input && agents.length === 0 ? pre(JSON.stringify(input, null, 2)) : ''}
${agents.map((agent) => agentHtml(agent, writer)).join('')}
${changes.map(({ path, diff }) => `<p class="muted">${escaped(path)}</p>${diffHtml(diff)}`).join('')}
${agents.length > 0 && !error ? '' : result}
${parts.map((part) => outputHtml(part, writer)).join('')}</section>`
}

function outputHtml(part: OutputPart, { blobs }: Writer): string {
  if (part.type === 'text') return ''
  if (part.type === 'link') return `<p class="muted">Link: ${escaped(part.uri)}</p>`
  const stored = blobs[part.blob]
  if (part.type === 'image' && typeof stored === 'object') return imageHtml(part.mediaType, stored.data)
  return `<p class="muted">${escaped(part.name ?? part.mediaType)}, ${size(part.bytes)}</p>`
}

const pre = (text: string): string => (text === '' ? '' : `<pre>${escaped(text)}</pre>`)

const diffHtml = (diff: string): string =>
  diff === ''
    ? ''
    : `<pre>${diffRows(diff)
        .map(({ kind, text }) => `<span class="${kind}">${escaped(text)}</span>`)
        .join('\n')}</pre>`

const planMarks = { pending: '☐', in_progress: '▸', completed: '☑' } as const

const planHtml = ({ plan }: TurnNode): string =>
  plan ? `<ul class="plan">${plan.steps.map(({ step, status }) => `<li>${planMarks[status]} ${escaped(step)}</li>`).join('')}</ul>` : ''

function endingHtml(turn: TurnNode): string {
  const { status, reason, ending, totals } = turn
  const words = ending?.status === 'failed' ? [ending.message, ending.remedy ?? ''] : []
  const said =
    status === 'completed'
      ? ''
      : `<p class="error text">${escaped([status, reason ? turnEndTexts[reason].status : '', ...words].filter(Boolean).join(': '))}</p>`
  const figures = totals ? [workTime(turnTimes(turn)), tokenWords(totals.usage), price(totals.cost)] : []
  return `${said}<p class="muted small">${figures.filter(Boolean).map(escaped).join(' · ')}</p>`
}
