import { useEffect, useState } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import type { IconName } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'

/** A small button that copies a text, and shows for a moment that it did. */
export function CopyIcon({ text, label, icon = 'copy' }: { readonly text: string; readonly label: string; readonly icon?: IconName }) {
  const page = usePage()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      page.notify({
        kind: 'error',
        text: 'The browser does not allow this page to copy.',
        remedy: 'Open the page over HTTPS or on localhost.',
      })
    }
  }
  return <IconButton icon={isCopied ? 'check' : icon} label={label} onClick={() => void copy()} />
}
