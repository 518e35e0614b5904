// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// maxReasonBytes bounds the reason of a status. A longer one is cut.
const maxReasonBytes = 32 << 10

// room refuses a deployment that would exceed its bound with so many more bytes.
func (l Limits) room(m *model.Deployment, more int) error {
	if size := proto.Size(m) + more; more > 0 && size > l.DeploymentBytes {
		return invalid("deployment %s would take %d bytes; at most %d are kept: store less metadata with it",
			m.GetId(), size, l.DeploymentBytes)
	}
	return nil
}

// growth is what metadata takes more, in bytes, once added is merged into old.
func growth(old, added map[string]string) int {
	const framing = 12 // tags and lengths of an entry
	n := 0
	for key, value := range added {
		if before, known := old[key]; known {
			n += len(value) - len(before)
		} else {
			n += len(key) + len(value) + framing
		}
	}
	return n
}
