import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { highlighter, loadHighlighter } from '../highlight/load-highlighter.ts'
import { usePage } from '../state/page.ts'
import { updateChildren } from './update-children.ts'
import { hasTime, timed, whenTime } from './work-budget.ts'

const namesLanguage = /<div class="md-code-head"><span>[^<]/

/** A formatted block of a text. `html` is trusted: it was sanitised. */
export function Block({ html }: { readonly html: string }) {
  const page = usePage()
  const box = useRef<HTMLDivElement>(null)
  const [tries, setTries] = useState(0)
  const hasCode = String(html).includes('<div class="md-code">')
  const highlight = hasCode ? highlighter.value : undefined
  const wraps = hasCode && page.settings.value.wrapsLines
  useLayoutEffect(() => {
    // The only place where a text becomes HTML.
    const template = document.createElement('template')
    template.innerHTML = html
    const { content } = template
    for (const head of content.querySelectorAll('.md-code-head')) head.lastElementChild?.before(wrapButton(wraps))
    if (namesLanguage.test(html)) loadHighlighter()
    const isInTime = hasTime()
    if (highlight && isInTime) timed(() => colour(content, highlight))
    if (box.current) updateChildren(box.current, content)
    return highlight && !isInTime ? whenTime(() => setTries(tries + 1)) : undefined
  }, [html, highlight, wraps, tries])
  return <div class="md-block" ref={box} />
}

function colour(content: DocumentFragment, highlight: NonNullable<typeof highlighter.value>): void {
  for (const code of content.querySelectorAll('.md-code code')) {
    const language = code.closest('.md-code')?.querySelector('.md-code-head span')?.textContent ?? ''
    const tokens = highlight(code.textContent ?? '', language)
    if (tokens) code.replaceChildren(...tokens.map(({ kind, text }) => (kind === undefined ? text : span(`code-${kind}`, text))))
  }
}

function span(name: string, text: string): HTMLElement {
  const element = document.createElement('span')
  element.className = name
  element.textContent = text
  return element
}

function wrapButton(isPressed: boolean): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'md-copy md-wrap'
  button.textContent = 'Wrap'
  button.setAttribute('aria-pressed', String(isPressed))
  return button
}
