// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "google.golang.org/protobuf/proto"

// Bounds limits one page of a list, or one queue. It holds at least one item, however large that is.
type Bounds struct{ Items, Bytes int }

// Position is the last item of a page of a list that is ordered by the last update, the newest first, and then by id.
// The zero value is before all items.
type Position struct {
	UpdatedAt int64
	ID        string
}

// before reports whether an item comes after the position.
func (p Position) before(updatedAt int64, id string) bool {
	switch {
	case p == Position{}:
		return true
	case updatedAt != p.UpdatedAt:
		return updatedAt < p.UpdatedAt
	}
	return id > p.ID
}

// pageOf returns the items at the beginning of all that fit on a page, as view copies them, and whether there are more.
func pageOf[S any, T proto.Message](all []S, view func(S) T, b Bounds) (page []T, more bool) {
	const framing = 8 // an item's tag and length in the message
	size := 0
	for _, one := range all {
		item := view(one)
		size += proto.Size(item) + framing
		if len(page) > 0 && (len(page) >= b.Items || size > b.Bytes) {
			return page, true
		}
		page = append(page, item)
	}
	return page, false
}
