import { Icon, type IconName } from './icon.tsx'
import { IconButton } from './icon-button.tsx'
import { useCopy } from './use-copy.ts'

/** Copies a text, and says for a moment that it did. */
export function CopyButton({ text }: { readonly text: string | (() => string) }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <button type="button" class="button button-small" onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
    </button>
  )
}

/** The same as an icon. */
export function CopyIcon({ text, label, icon = 'copy' }: { readonly text: string; readonly label: string; readonly icon?: IconName }) {
  const { isCopied, copy } = useCopy(text)
  return <IconButton icon={isCopied ? 'check' : icon} label={label} onClick={copy} />
}
