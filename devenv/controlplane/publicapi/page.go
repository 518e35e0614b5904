// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"encoding/base64"
	"encoding/json"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	defaultLimit = 10
	maxLimit     = 100
)

// maxPageBytes bounds a page: pipectl takes messages of up to 4 MiB.
const maxPageBytes = 3 << 20

// listed is what a list is ordered by: the last update, newest first, then the id.
type listed interface {
	GetId() string
	GetUpdatedAt() int64
}

type position struct {
	UpdatedAt int64  `json:"u"`
	ID        string `json:"i"`
}

// paginate returns the page behind the cursor and the cursor of the next one; empty at the end.
func paginate[T listed](
	limit int32, cursor string, list func(after store.Position, b store.Bounds) ([]T, bool),
) ([]T, string, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	after, err := decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	page, more := list(after, store.Bounds{Items: int(min(limit, maxLimit)), Bytes: maxPageBytes})
	if !more {
		return page, "", nil
	}
	last := page[len(page)-1]
	next, err := json.Marshal(position{last.GetUpdatedAt(), last.GetId()})
	if err != nil {
		return nil, "", err
	}
	return page, base64.StdEncoding.EncodeToString(next), nil
}

func decodeCursor(cursor string) (store.Position, error) {
	if cursor == "" {
		return store.Position{}, nil
	}
	var p position
	data, err := base64.StdEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.ID == "" {
		return store.Position{}, status.Errorf(codes.InvalidArgument,
			"invalid cursor %q; use the one of the previous answer, or none", cursor)
	}
	return store.Position(p), nil
}
