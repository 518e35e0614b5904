// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import "bytes"

// environmentNames finds a tree's token in entries that end with a zero byte.
func environmentNames(environment []byte, token string) bool {
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		path, ok := bytes.CutPrefix(entry, []byte(Variable+"="))
		if !ok {
			continue
		}
		for part := range bytes.SplitSeq(path, []byte{'/'}) {
			if string(part) == token {
				return true
			}
		}
	}
	return false
}
