import type { StreamEvent } from '../../contracts/index.ts'
import { speakerAfter } from '../../view/index.ts'
import { renderMarkdown, wrapText } from '../terminal/markdown/render-markdown.ts'
import type { Paint } from '../terminal/paint.ts'

/** The text is rendered for each frame, so its length is bounded. */
const maxCharacters = 16_000

/** The text that the root agent, or the child that talks to the person, streams in its current step. It becomes the answer if no call comes with it. */
export class LiveAnswer {
  #text = ''
  #format = 'markdown'
  #attempt: number | undefined
  #speaker = 'root'
  #rendered: { readonly text: string; readonly width: number; readonly lines: readonly string[] } | undefined

  take(event: StreamEvent): void {
    this.#speaker = speakerAfter(event, this.#speaker)
    if (event.agentPath !== this.#speaker) return
    switch (event.type) {
      case 'interaction.session.created':
      case 'interaction.session.configured':
        this.#format = event.agent.output.format
        break
      case 'interaction.step.started':
      case 'interaction.step.failed':
      case 'interaction.turn.started':
        this.#text = ''
        this.#attempt = event.type === 'interaction.step.started' ? event.attempt : undefined
        break
      case 'interaction.step.completed':
        if (event.reply.some(({ type }) => type === 'call')) this.#text = ''
        break
      case 'interaction.item.delta':
        if (event.kind === 'text' && event.attempt === this.#attempt) this.#add(event.text)
        break
      default:
        break
    }
  }

  lines({ width, maxLines, paint }: { readonly width: number; readonly maxLines: number; readonly paint: Paint }): readonly string[] {
    if (maxLines <= 0 || this.#text.trim() === '') return []
    const known = this.#rendered
    if (known?.text !== this.#text || known.width !== width) {
      const text = this.#text.trim()
      const lines = this.#format === 'markdown' ? renderMarkdown(text, { width, paint, cutsCode: true }) : wrapText(text, { width })
      this.#rendered = { text: this.#text, width, lines }
    }
    return this.#rendered?.lines.slice(-maxLines) ?? []
  }

  #add(text: string): void {
    const whole = this.#text + text
    if (whole.length <= 2 * maxCharacters) this.#text = whole
    // Cut between blocks if possible.
    else this.#text = whole.slice(Math.max(whole.length - maxCharacters, whole.indexOf('\n\n', whole.length - maxCharacters) + 2))
  }
}
