import type { ChannelRequest, ClosedRequest } from 'troupe/extension'
import type { Content } from '../platform.ts'
import type { StoredRequest } from '../state/requests.ts'

type Buttons = NonNullable<Content['buttons']>

/** What a button means. Its value is the key of the request, or nothing for those of a conversation. */
export const actions = {
  allow: { once: 'allow-once', session: 'allow-session', project: 'allow-project' },
  deny: 'deny',
  denyWhy: 'deny-why',
  option: 'option-',
  form: 'form',
  done: 'done',
  stop: 'stop',
  retry: 'retry',
  details: 'details',
  export: 'export',
} as const

const breadthLabels = { once: 'Approve', session: 'Approve for this conversation', project: 'Approve for this project' }
const mostOptions = 10
const longestDiff = 8_000
const longestLabel = 70

/** `hasForms`: the platform can show forms. */
export function requestContent({ key, request, closed }: StoredRequest, hasForms: boolean): Content {
  const text = [request.kind === 'approval' ? approvalText(request) : questionText(request, hasForms), closed && closedText(closed)]
  return {
    title: request.title,
    text: text.filter((each) => each).join('\n\n'),
    ...(!closed && { buttons: requestButtons(request, key, hasForms) }),
  }
}

export function closedText({ outcome, by }: ClosedRequest): string {
  const who = by === undefined ? '' : ` by ${by}`
  const texts = {
    approved: `✅ Approved${who}`,
    denied: `🚫 Denied${who}`,
    answered: `✅ Answered${who}`,
    ended: 'Ended without an answer',
  }
  return `**${texts[outcome]}.**`
}

function approvalText({ tool, input = [], reason, diff }: ChannelRequest): string {
  const lines = input.map(({ name, value }) =>
    value.includes('\n') ? `**${name}**\n${codeBlock(value)}` : `**${name}** ${codeSpan(value)}`,
  )
  return [
    tool && `Tool ${codeSpan(tool)}`,
    reason && `> ${reason.replaceAll('\n', '\n> ')}`,
    ...lines,
    diff && codeBlock(cut(diff), 'diff'),
  ]
    .filter((each) => each)
    .join('\n\n')
}

function questionText({ kind, form, url, options = [] }: ChannelRequest, hasForms: boolean): string {
  if (url !== undefined) return 'Open the address, then press *Done*.'
  if (kind !== 'form') return options.length > 0 ? 'Choose one, or write another answer.' : 'Write your answer here.'
  const names = Object.keys((form?.properties as object | undefined) ?? {})
  return hasForms ? '' : `Answer with a line for each field:\n\n${names.map((name) => `\`${name}: …\``).join('\n')}`
}

function requestButtons({ kind, breadths = ['once'], options = [], url }: ChannelRequest, value: string, hasForms: boolean): Buttons {
  const button = (id: string, label: string, style?: 'primary' | 'danger') =>
    ({ type: 'button', id, value, label: cut(label, longestLabel), ...(style && { style }) }) as const
  if (kind === 'approval') {
    const allows = breadths.map((breadth) =>
      button(actions.allow[breadth], breadthLabels[breadth], breadth === 'once' ? 'primary' : undefined),
    )
    const why = hasForms ? [button(actions.denyWhy, 'Deny with a reason…')] : []
    return [...allows, button(actions.deny, 'Deny', 'danger'), ...why]
  }
  if (url !== undefined) return [{ type: 'link-button', label: 'Open', url }, button(actions.done, 'Done', 'primary')]
  if (kind === 'form') return hasForms ? [button(actions.form, 'Fill in…', 'primary'), button(actions.deny, 'Decline')] : []
  return options.slice(0, mostOptions).map((option, index) => button(`${actions.option}${index}`, option))
}

/** A block that its text cannot end. */
export function codeBlock(given: string, language = ''): string {
  const text = visible(given)
  const mark = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)))
  return `${mark}${language}\n${text}\n${mark}`
}

function codeSpan(given: string): string {
  const text = visible(given)
  const mark = '`'.repeat(Math.max(1, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)))
  return text === '' ? '(empty)' : mark.length === 1 ? `\`${text}\`` : `${mark} ${text} ${mark}`
}

/** For a decision, what cannot be seen is shown by its number. */
const visible = (text: string): string =>
  text.replace(
    /(?![\n\t])\p{Cc}|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\u{e0000}-\u{e007f}]/gu,
    (found) => `<U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  )

export const cut = (text: string, most = longestDiff): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
