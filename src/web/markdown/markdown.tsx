import DOMPurify from 'dompurify'
import { useMemo, useRef } from 'preact/hooks'
import { copyToClipboard } from '../state/clipboard.ts'
import { type Page, usePage } from '../state/page.ts'
import { LongText } from './long-text.tsx'
import { definitionsIn, markdownHtml } from './markdown-html.ts'
import { type Blocks, splitBlocks, steadyEnd } from './split-blocks.ts'

/** Longer texts are shown as they are. */
export const longestMarkdown = 200_000

interface MarkdownProps {
  readonly text: string
  readonly isOpen?: boolean
}

/** A text of a model. Blocks that are complete are rendered once. */
export function Markdown({ text, isOpen = false }: MarkdownProps) {
  const page = usePage()
  const known = useRef<Blocks>(undefined)
  if (text.length > longestMarkdown) return <LongText text={text} characters={20_000} />
  const blocks = splitBlocks(text, known.current)
  known.current = blocks
  const { done, open } = blocks
  const definitions = definitionsIn(text)
  const all = open === '' ? done : [...done, isOpen ? steadyEnd(open) : open]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside are in the HTML of the text
    // biome-ignore lint/a11y/useKeyWithClickEvents: a button sends clicks for keys
    <div class="md" onClick={(event) => void copyCode(page, event)}>
      {all.map((block, index) => (
        <Block key={index} text={definitions !== '' && block.includes('[') ? `${block}\n\n${definitions}` : block} />
      ))}
    </div>
  )
}

function Block({ text }: { readonly text: string }) {
  return useMemo(() => {
    const html = sanitised(markdownHtml(text))
    // The only place where a text becomes HTML.
    return <div class="md-block" dangerouslySetInnerHTML={{ __html: html }} />
  }, [text])
}

const allowedTags =
  'a b blockquote br button code del div em h3 h4 h5 h6 hr i ins kbd li mark ol p pre s small span strong sub sup table tbody td th thead tr u ul'.split(
    ' ',
  )

/** Trusted HTML, which Preact takes for a string. */
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

async function copyCode(page: Page, { target }: MouseEvent): Promise<void> {
  const button = (target as Element).closest('.md-copy')
  const code = button?.closest('.md-code')?.querySelector('code')?.textContent
  if (!button || !code || !(await copyToClipboard(page, code))) return
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1_500)
}
