// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func appendRecordOne(b []byte, r Record) []byte {
	body := r.encode(nil)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(b, checksum(body))
	return append(b, body...)
}

func FuzzDecode(f *testing.F) {
	for _, r := range samples() {
		f.Add(r.encode(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(r.encode(nil))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(r) {
			t.Fatalf("%v became %v: %v", r, again, err)
		}
	})
}

// FuzzOpen opens any file: what is read from it is there after the next start, too.
func FuzzOpen(f *testing.F) {
	text, one := appendHeader(nil, uint64(len(samples()))), []byte(magicOne)
	for i, r := range samples() {
		start := len(text)
		text = appendFrame(text, &r)
		seal(text[start:], uint64(i+1))
		one = appendRecordOne(one, r)
	}
	f.Add(text)
	f.Add(text[:len(text)-20])
	f.Add(text[headerBytes+10:])
	f.Add(one)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		j, m, _ := openFile(path)
		m.append(j, Record{Kind: Event, ID: "more"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.Run(ctx); err != nil {
			t.Fatal(err)
		}
		_, again, p := openFile(path)
		if len(again.objects) != len(m.objects) {
			t.Fatalf("%d objects became %d: %v", len(m.objects), len(again.objects), p.get(Damage))
		}
	})
}
