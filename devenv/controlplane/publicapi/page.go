// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"encoding/base64"
	"encoding/json"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	defaultLimit = 10
	maxLimit     = 100
)

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
func paginate[T listed](all []T, limit int32, cursor string) ([]T, string, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	if cursor != "" {
		after, err := decodeCursor(cursor)
		if err != nil {
			return nil, "", err
		}
		for len(all) > 0 && !after.before(all[0]) {
			all = all[1:]
		}
	}
	if len(all) <= int(limit) {
		return all, "", nil
	}
	all = all[:limit]
	last := all[limit-1]
	next, err := json.Marshal(position{last.GetUpdatedAt(), last.GetId()})
	if err != nil {
		return nil, "", err
	}
	return all, base64.StdEncoding.EncodeToString(next), nil
}

func decodeCursor(cursor string) (position, error) {
	var p position
	data, err := base64.StdEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.ID == "" {
		return p, status.Errorf(codes.InvalidArgument, "invalid cursor %q; use the one of the previous answer, or none", cursor)
	}
	return p, nil
}

func (p position) before(item listed) bool {
	if item.GetUpdatedAt() != p.UpdatedAt {
		return item.GetUpdatedAt() < p.UpdatedAt
	}
	return item.GetId() > p.ID
}
