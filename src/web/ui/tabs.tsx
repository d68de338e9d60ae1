interface TabsProps<Tab extends string> {
  readonly label: string
  readonly class: string
  readonly tabs: { readonly [Each in Tab]: string }
  readonly selected: Tab
  onSelect(tab: Tab): void
}

/** One of them is selected: by a click, or by the arrow keys. */
export function Tabs<Tab extends string>({ label, class: more, tabs, selected, onSelect }: TabsProps<Tab>) {
  const all = Object.keys(tabs) as Tab[]
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    const next = (all.indexOf(selected) + (event.key === 'ArrowRight' ? 1 : -1) + all.length) % all.length
    onSelect(all[next] ?? selected)
    ;(event.currentTarget as HTMLElement).querySelectorAll('button')[next]?.focus()
  }
  return (
    <div class={more} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {all.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          aria-selected={tab === selected}
          tabIndex={tab === selected ? 0 : -1}
          onClick={() => onSelect(tab)}
        >
          {tabs[tab]}
        </button>
      ))}
    </div>
  )
}
