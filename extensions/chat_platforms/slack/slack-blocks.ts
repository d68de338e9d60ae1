import { cardToBlockKit } from '@chat-adapter/slack'
import type { PlanModel } from 'chat'
import type { Content } from '../platform.ts'

type Block = ReturnType<typeof cardToBlockKit>[number]

const longestTitle = 150
const longestSection = 2_900
const longestNotification = 300
const mostButtons = 25

/** Of what Slack shows as blocks. Markdown is a block of its own: Slack's older markup would read mentions and links in it. */
export const blocksOf = ({ title, text, plan, buttons }: Content): Block[] => [
  ...(title ? [{ type: 'section', text: { type: 'plain_text', text: title.slice(0, longestSection) } }] : []),
  ...(text ? [{ type: 'markdown', text: safeMarkdown(text) }] : []),
  ...(plan ? [planBlock(plan)] : []),
  ...buttonBlocks(buttons),
]

/** The home tab knows no Markdown: code and bold text stay, everything else is plain. */
export const homeBlocksOf = ({ title, text, buttons }: Content): Block[] => [
  ...(title ? [{ type: 'header', text: { type: 'plain_text', text: title.slice(0, longestTitle) } }] : []),
  ...(text
    ? [
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: escaped(text)
              .replace(/\*\*(.+?)\*\*/g, '*$1*')
              .slice(0, longestSection),
          },
        },
      ]
    : []),
  ...buttonBlocks(buttons),
]

/** For `chat.postMessage` and the like. */
export const shown = (content: Content) => ({ text: fallbackText(content), blocks: blocksOf(content) as never })

export const buttonBlocks = (buttons: Content['buttons'] = []): Block[] =>
  buttons.length === 0 ? [] : cardToBlockKit({ type: 'card', children: [{ type: 'actions', children: buttons.slice(0, mostButtons) }] })

/** What a notification says. */
export function fallbackText({ title, text = '', plan }: Content): string {
  const said = title ?? (text === '' ? (plan?.title ?? '') : text)
  return escaped(said.slice(0, longestNotification))
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** An agent does not notify everybody: `<!channel>` and the like stay text. */
export const safeMarkdown = (text: string): string => text.replaceAll('<!', '<\u200b!')

const planBlock = ({ title, tasks }: PlanModel): Block =>
  tasks.length === 0
    ? { type: 'context', elements: [{ type: 'plain_text', text: title }] }
    : {
        type: 'plan',
        title: title.slice(0, longestTitle),
        tasks: tasks.map(({ id, title: task, status, details, output }) => ({
          type: 'task_card',
          task_id: id,
          title: task,
          status,
          ...(details !== undefined && { details: richText(String(details)) }),
          ...(output !== undefined && { output: richText(String(output)) }),
        })),
      }

const richText = (text: string): Block => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
})
