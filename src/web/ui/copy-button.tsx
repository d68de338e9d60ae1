import { useEffect, useState } from 'preact/hooks'
import { copyToClipboard } from '../state/clipboard.ts'
import { usePage } from '../state/page.ts'
import { Icon, type IconName } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

const shownMs = 1_500

/** `isCopied` for a moment after `copy`. A notice says if it failed. */
function useCopy(text: string | (() => string)): { readonly isCopied: boolean; copy(): void } {
  const page = usePage()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), shownMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  return { isCopied, copy: () => void copyToClipboard(page, typeof text === 'string' ? text : text()).then(setCopied) }
}

/** Copies a text, and says for a moment that it did. A function makes its text when it is copied. */
export function CopyButton({ text }: { readonly text: string | (() => string) }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <button type="button" class="button button-small" onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
    </button>
  )
}

export function CopyIcon({
  text,
  label,
  icon = 'copy',
}: {
  readonly text: string | (() => string)
  readonly label: string
  readonly icon?: IconName
}) {
  const { isCopied, copy } = useCopy(text)
  return <IconButton icon={isCopied ? 'check' : icon} label={label} onClick={copy} />
}
