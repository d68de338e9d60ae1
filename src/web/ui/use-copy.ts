import { useEffect, useState } from 'preact/hooks'
import { copyToClipboard } from '../state/clipboard.ts'
import { usePage } from '../state/page.ts'

const shownMs = 1_500

/** `isCopied` for a moment after `copy`. A notice says if it failed. A function makes its text when it is copied. */
export function useCopy(text: string | (() => string)): { readonly isCopied: boolean; copy(): void } {
  const page = usePage()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), shownMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  return { isCopied, copy: () => void copyToClipboard(page, typeof text === 'string' ? text : text()).then(setCopied) }
}
