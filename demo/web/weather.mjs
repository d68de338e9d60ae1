import { numberFor, pause, texts } from './simulated.mjs'

const skies = ['dry, light wind', 'some clouds', 'sunny', 'showers in the afternoon', 'fog in the morning, then sunny']

export const lookUpWeather = {
  name: 'look_up_weather',
  description: 'The forecast for a city.',
  inputSchema: texts({ city: 'The city', 'day?': 'The day, such as Saturday' }),
  effect: 'read',
  concurrency: 'shared',
  async execute({ city, day = 'the weekend' }, { signal, progress }) {
    progress(`asking the weather service about ${city}`)
    await pause(600 + numberFor(city, 600), signal)
    return `${city}, ${day}: ${skies[numberFor(`${city}${day}`, skies.length)]}, ${9 + numberFor(city, 12)} °C.`
  },
}

export const snowReport = {
  name: 'snow_report',
  description: 'The snow depth at a place.',
  inputSchema: texts({ place: 'The place' }),
  effect: 'read',
  concurrency: 'shared',
  async execute({ place }, { signal, progress }) {
    progress(`asking the station in ${place}`)
    await pause(900, signal)
    return {
      ok: false,
      error: {
        class: 'failed',
        message: `The station in ${place} has sent no report since April.`,
        remedy: 'Ask for the weather there instead, or wait for the first snow.',
      },
    }
  },
}
