import { LongText } from '../markdown/long-text.tsx'
import { CopyButton } from './copy-button.tsx'

/** A text to read and to copy. */
export function CodeBox({ text, class: more = '' }: { readonly text: string; readonly class?: string }) {
  return (
    <div class={`code-box ${more}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls by keyboard */}
      <pre tabIndex={0}>
        <LongText text={text} characters={20_000} />
      </pre>
      <CopyButton text={text} />
    </div>
  )
}
