// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

const (
	reportingStep = 1 << 20 // bytes; less where the size is known: one per cent
	minimalStep   = 32 << 10
	// maxResumed bounds how often one download goes on where it broke off.
	maxResumed = 8
)

// download copies a body with a bound.
type download struct {
	limit, total, done int64
	alive              func()
	progress           func(done, total int64)
	// again asks for the rest; nil when no one can be asked.
	again func(from int64) (io.ReadCloser, error)
}

func (d *download) copy(out *os.File, body io.Reader) (digest string, err error) {
	if d.total > d.limit {
		return "", d.tooLarge()
	}
	hash, buffer, reported, step := sha256.New(), make([]byte, 128<<10), int64(0), int64(reportingStep)
	if d.total >= 0 {
		step = min(step, max(minimalStep, d.total/100))
	}
	if d.progress != nil {
		d.progress(0, d.total)
	}
	for resumed := 0; ; {
		n, err := body.Read(buffer)
		if n > 0 {
			d.alive()
			if d.done += int64(n); d.done > d.limit {
				return "", d.tooLarge()
			}
			hash.Write(buffer[:n])
			if _, err := out.Write(buffer[:n]); err != nil {
				return "", refused("make room or choose another --work-dir", "%w", err)
			}
		}
		if d.progress != nil && (d.done-reported >= step || err == io.EOF) {
			reported = d.done
			d.progress(d.done, d.total)
		}
		switch {
		case err == io.EOF:
			return hex.EncodeToString(hash.Sum(nil)), nil
		case err != nil:
			broken := passing(
				"check the network, then start the plugin again", "the download broke off after %d bytes: %w", d.done,
				err,
			)
			if d.again == nil || d.done == 0 || resumed >= maxResumed {
				return "", broken
			}
			rest, err := d.again(d.done)
			if err != nil {
				return "", broken
			}
			defer rest.Close() // at most maxResumed of them
			body = rest
			resumed++
		}
	}
}

func (d *download) tooLarge() error {
	return refused("check that the url is the right one", "it is larger than %d KiB: %w", d.limit>>10, errTooLarge)
}
