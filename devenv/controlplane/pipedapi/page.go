// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"encoding/base64"
	"encoding/json"
	"math"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// maxPageBytes bounds a page. PipeCD's piped and ours take messages of up to 10 MiB.
const maxPageBytes = 8 << 20

var (
	// page bounds the pages of lists.
	page = store.Bounds{Items: 1000, Bytes: maxPageBytes}
	// whole bounds the lists of PipeCD's protocol that have no pages.
	whole = store.Bounds{Items: math.MaxInt, Bytes: maxPageBytes}
)

// encodeCursor makes a cursor of the fields of a position; decodeCursor reads it back.
func encodeCursor(position any) (string, error) {
	data, err := json.Marshal(position)
	return base64.StdEncoding.EncodeToString(data), err
}

// decodeCursor leaves the position as it is for an empty cursor.
func decodeCursor(cursor string, position any) error {
	if cursor == "" {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, position)
	}
	if err != nil {
		return status.Errorf(codes.InvalidArgument, "invalid cursor %q; use the one of the previous answer, or none",
			cursor)
	}
	return nil
}
