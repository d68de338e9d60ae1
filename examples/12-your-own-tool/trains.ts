interface Train {
  readonly from: string
  readonly to: string
  readonly departs: string
  readonly arrives: string
}

export const trains: readonly Train[] = [
  { from: 'Oslo', to: 'Bergen', departs: '06:25', arrives: '13:05' },
  { from: 'Oslo', to: 'Bergen', departs: '14:25', arrives: '21:10' },
  { from: 'Oslo', to: 'Trondheim', departs: '08:02', arrives: '14:44' },
]
