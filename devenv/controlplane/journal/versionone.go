// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/binary"
	"fmt"
)

// magicOne begins a file of the format before this one: after it follow the length and the checksum of each body, four
// bytes each, and the body.
const magicOne = "pipedeck journal 1"

// restoreOne reads a file of the format before this one, which is replaced by a file of this one. The old format gives
// no way to go on after damage.
func (j *Journal) restoreOne(data []byte) {
	j.replace = true
	at := len(magicOne)
	for len(data)-at >= 8 {
		length, sum := int(binary.BigEndian.Uint32(data[at:])), binary.BigEndian.Uint32(data[at+4:])
		if length > len(data)-at-8 {
			break
		}
		body := data[at+8 : at+8+length]
		if checksum(body) != sum || !j.restoreRecord(body) {
			break
		}
		at += 8 + length
	}
	if at < len(data) {
		j.lost.damage = &damage{"damaged",
			fmt.Sprintf("the history of an earlier version is damaged; missing: its last %d of %d bytes", len(data)-at,
				len(data)), false}
	}
}
