// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
)

// ErrStale is the reason to refuse a plan that was made for something else than there is now.
var ErrStale = errors.New("the plan is stale")

// CheckState refuses a plan that was made for another state than that of now.
func (s *Session) CheckState(ctx context.Context, planned Moment) error {
	now, err := s.Moment(ctx)
	switch {
	case err != nil:
		return err
	case planned.Lineage != "" && now.Lineage != planned.Lineage:
		return fmt.Errorf("%w: it was made for another state (lineage %s, now %s)", ErrStale, planned.Lineage,
			orNone(now.Lineage))
	case now.Serial != planned.Serial:
		return fmt.Errorf("%w: the state has changed since the plan was made (serial %d then, %d now)", ErrStale,
			planned.Serial, now.Serial)
	}
	return nil
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
