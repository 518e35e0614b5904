// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/proto"
)

// magic begins a file with a report; its last character is the version of the format. Four bytes with a
// checksum of what follows come next, then the length of the call's name, the name and the request.
const magic = "PDR1"

const headerBytes = len(magic) + crc32.Size + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn is the error of a record that was not written to its end, or was changed since.
var errTorn = errors.New("the report is not whole")

func encode(name string, request proto.Message) ([]byte, error) {
	body, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	record := append([]byte(magic), 0, 0, 0, 0, byte(len(name)))
	return seal(append(append(record, name...), body...)), nil
}

// seal puts the checksum in its place.
func seal(record []byte) []byte {
	binary.BigEndian.PutUint32(record[len(magic):], checksum(record))
	return record
}

// decode returns the name of the call and its request. It fails with errTorn, or with what is wrong with a
// whole record that another version has written.
func decode(record []byte) (string, proto.Message, error) {
	if len(record) < headerBytes || string(record[:len(magic)]) != magic ||
		binary.BigEndian.Uint32(record[len(magic):]) != checksum(record) {
		return "", nil, errTorn
	}
	rest, length := record[headerBytes:], int(record[headerBytes-1])
	if length > len(rest) {
		return "", nil, errTorn
	}
	name := string(rest[:length])
	request, err := newRequest(name)
	if err != nil {
		return "", nil, err
	}
	if err := proto.Unmarshal(rest[length:], request); err != nil {
		return "", nil, fmt.Errorf("read a kept %s: %w", name, err)
	}
	return name, request, nil
}

func checksum(record []byte) uint32 {
	return crc32.Checksum(record[len(magic)+crc32.Size:], castagnoli)
}
