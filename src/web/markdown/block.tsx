import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { tokensOf } from '../highlight/tokens.ts'
import { usePage } from '../state/page.ts'
import { updateChildren } from './update-children.ts'
import { hasTime, timed, whenTime } from './work-budget.ts'

/** A formatted block of a text. `html` is trusted: it was sanitised. */
export function Block({ html }: { readonly html: string }) {
  const page = usePage()
  const box = useRef<HTMLDivElement>(null)
  const [tries, setTries] = useState(0)
  const hasCode = String(html).includes('<div class="md-code">')
  const wraps = hasCode && page.settings.value.wrapsLines
  useLayoutEffect(() => {
    // The only place where a text becomes HTML.
    const template = document.createElement('template')
    template.innerHTML = html
    const { content } = template
    for (const head of content.querySelectorAll('.md-code-head')) head.lastElementChild?.before(wrapButton(wraps))
    const isInTime = hasTime()
    if (hasCode && isInTime) timed(() => colour(content))
    if (box.current) updateChildren(box.current, content)
    return hasCode && !isInTime ? whenTime(() => setTries(tries + 1)) : undefined
  }, [html, wraps, tries])
  return <div class="md-block" ref={box} />
}

function colour(content: DocumentFragment): void {
  for (const code of content.querySelectorAll('.md-code code')) {
    const language = code.closest('.md-code')?.querySelector('.md-code-head span')?.textContent ?? ''
    const tokens = tokensOf(code.textContent ?? '', language)
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
