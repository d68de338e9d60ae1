import DOMPurify from 'dompurify'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { copyToClipboard } from '../state/clipboard.ts'
import { type Page, usePage } from '../state/page.ts'
import { Block } from './block.tsx'
import { type FormattedText, formatText, tagsAtOnce } from './format-text.ts'
import { LongText } from './long-text.tsx'
import { whenTime } from './work-budget.ts'

interface MarkdownProps {
  readonly text: string
  readonly isOpen?: boolean
}

/** A text of a model. What would take the browser long is shown as it is. */
export function Markdown({ text, isOpen = false }: MarkdownProps) {
  const page = usePage()
  const known = useRef<FormattedText>(undefined)
  const [maxTags, setMaxTags] = useState(tagsAtOnce)
  const [, setTries] = useState(0)
  const formatted = formatText(text, { isOpen, maxTags, sanitise: sanitised }, known.current)
  known.current = formatted
  const { blocks, rest, state } = formatted
  useEffect(() => (state === 'waits' ? whenTime(() => setTries((tries) => tries + 1)) : undefined))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside are in the HTML of the text
    // biome-ignore lint/a11y/useKeyWithClickEvents: a button sends clicks for keys
    <div class="md" onClick={(event) => void pressed(page, event)}>
      {blocks.map(({ html, of }, index) =>
        html === undefined ? <PlainText key={index} text={of.own} /> : <Block key={index} html={html} />,
      )}
      {rest !== '' && (
        <PlainText text={rest} isWaiting={state === 'waits'}>
          {state === 'cut' && (
            <button type="button" class="link-button small" onClick={() => setMaxTags(maxTags + tagsAtOnce)}>
              Format more
            </button>
          )}
        </PlainText>
      )}
    </div>
  )
}

interface PlainTextProps {
  readonly text: string
  /** It is formatted in a moment. */
  readonly isWaiting?: boolean
  readonly children?: ComponentChildren
}

const PlainText = ({ text, isWaiting = false, children }: PlainTextProps) => (
  <div class="md-plain" data-large={isWaiting ? undefined : ''}>
    {!isWaiting && <p class="line muted small">Too large to format: shown as plain text. {children}</p>}
    <LongText text={text} characters={20_000} />
  </div>
)

const allowedTags =
  'a b blockquote br button code del div em h3 h4 h5 h6 hr i ins kbd li mark ol p pre s small span strong sub sup table tbody td th thead tr u ul'.split(
    ' ',
  )

/** Trusted HTML, which has the type of a string. */
export const sanitised = (html: string): string =>
  DOMPurify.sanitize(html, {
    ALLOWED_TAGS: allowedTags,
    ALLOWED_ATTR: ['align', 'class', 'href', 'rel', 'start', 'tabindex', 'target', 'type'],
    // Their values are no addresses.
    ADD_URI_SAFE_ATTR: ['align', 'rel', 'start', 'tabindex', 'target', 'type'],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  }) as unknown as string

/** Buttons of code. Lines of all code wrap, or none. */
async function pressed(page: Page, { target }: MouseEvent): Promise<void> {
  const button = (target as Element).closest('.md-copy')
  if (button?.matches('.md-wrap')) return page.set({ wrapsLines: !page.settings.value.wrapsLines })
  const code = button?.closest('.md-code')?.querySelector('code')?.textContent
  if (!button || !code || !(await copyToClipboard(page, code))) return
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1_500)
}
