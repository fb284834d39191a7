// Devices: the list that GET /devices answers and the checks of POST /devices.

import { Refusal } from './refusal.js';

/**
 * What GET /devices lists, the same in every sample service. The addresses are
 * of the block that RFC 7042 sets aside for documentation.
 */
export const fixedDevices = [
  ['1f0a5b52-6d4e-4c0b-9a39-0d1b7c5e2a01', '00-00-5E-00-53-01', '2.1.6'],
  ['2c9d7f10-83b7-4f5e-8b1c-5e6f7a8b9c02', '00-00-5E-00-53-02', '2.1.5'],
  ['3e8b6a21-94c8-4d6f-9c2d-6f708b9cad03', '00-00-5E-00-53-03', '2.1.5'],
  ['4d7a5b32-a5d9-4e70-8d3e-70819cadbe04', '00-00-5E-00-53-04', '2.1.5'],
  ['5c694c43-b6ea-4f81-9e4f-8192adbecf05', '00-00-5E-00-53-05', '2.1.2'],
  ['6b583d54-c7fb-4092-8f50-92a3becfd006', '00-00-5E-00-53-06', '2.1.1'],
  ['7a472e65-d80c-41a3-9061-a3b4cfd0e107', '00-00-5E-00-53-07', '2.1.6'],
  ['89361f76-e91d-42b4-8172-b4c5d0e1f208', '00-00-5E-00-53-08', '2.1.4'],
  ['98250087-fa2e-43c5-9283-c5d6e1f20309', '00-00-5E-00-53-09', '2.2.0'],
  ['a714f198-0b3f-44d6-8394-d6e7f203140a', '00-00-5E-00-53-0A', '2.2.0'],
].map(([id, mac, firmware]) => ({ id, mac, firmware }));

/** The largest body of POST /devices, in bytes. */
export const maxBody = 64 << 10;

const macAddress = /^[0-9a-f]{2}([-:])[0-9a-f]{2}(\1[0-9a-f]{2}){4}$/i;
const version = /^[A-Za-z0-9._+-]{1,32}$/;

/** Refuses a body that is not said to be JSON. */
export function requireJSON(contentType) {
  const kind = (contentType ?? '').split(';', 1)[0].trim().toLowerCase();
  if (kind !== 'application/json') throw new Refusal(415, 'the body must be application/json');
}

/** The refusal of a body over maxBody. */
export function tooLarge() {
  return new Refusal(413, `the body must not be over ${maxBody} bytes`);
}

/**
 * Reads one JSON object {"mac", "firmware"} and nothing behind it from a
 * Buffer; refuses all else.
 */
export function decodeDevice(body) {
  const input = parse(body.toString('utf8'));
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new Refusal(400, 'the body must be one JSON object');
  }
  for (const key of Object.keys(input)) {
    if (key !== 'mac' && key !== 'firmware') {
      throw new Refusal(400, `the key ${quote(key)} is not one of "mac" and "firmware"`);
    }
  }
  const { mac, firmware } = input;
  if (typeof mac !== 'string' || !macAddress.test(mac)) {
    throw new Refusal(400, '"mac" must be six octets in hexadecimal, as 00-00-5E-00-53-01');
  }
  if (typeof firmware !== 'string' || !version.test(firmware)) {
    throw new Refusal(400, '"firmware" must be 1 to 32 letters, digits or any of . _ + -');
  }
  return { mac, firmware };
}

function parse(text) {
  if (text === '') throw new Refusal(400, 'the body is empty; send {"mac": …, "firmware": …}');
  try {
    return JSON.parse(text);
  } catch {
    // The runtime's own words quote the body, at any length.
    throw new Refusal(400, 'the body must be one JSON object, with nothing behind it');
  }
}

/** A client's word, cut to what fits a reason. */
function quote(word) {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word);
}
