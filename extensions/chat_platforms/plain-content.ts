import type { LinkButtonElement, PlanModel } from 'chat'
import type { Content } from './platform.ts'

const marks = { pending: '▫️', in_progress: '⏳', complete: '✅', error: '❌' }
const shortened = '…'

/** Markdown of at most `limit` characters, for platforms whose messages are one text. */
export function contentText({ title, text, plan }: Content, limit: number): string {
  const parts = [title && `**${escaped(title)}**`, text].filter((part) => part).join('\n\n')
  return plan ? [parts, planText(plan, limit - parts.length - 2)].filter((part) => part !== '').join('\n\n') : parts
}

/** The latest tasks are the ones that matter. */
function planText({ title, tasks }: PlanModel, limit: number): string {
  const heading = `**${escaped(title)}**`
  const lines = tasks.map((task) => {
    const details = [task.details, task.output].filter((part) => typeof part === 'string').join(' ')
    return `${marks[task.status]} ${escaped(task.title)}${details === '' ? '' : ` – ${escaped(details)}`}`
  })
  const isTooLong = (): boolean => [heading, ...lines].join('\n').length + shortened.length + 1 > limit
  const all = lines.length
  while (lines.length > 0 && isTooLong()) lines.shift()
  return [heading, ...(lines.length < all ? [shortened] : []), ...lines].join('\n')
}

/** Platforms refuse messages with other addresses. */
export function isPublicLink({ url }: LinkButtonElement): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && /\.[a-z]{2,}$/i.test(parsed.hostname)
}

const escaped = (text: string): string => text.replaceAll(/[\\`*_[\]<>~|#]/g, String.raw`\$&`)
