// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// repairer repairs a mirror that is damaged.
type repairer struct {
	mirror *mirror
	// again is called after a repair: an Update brings the branch again.
	again func()
	// report is called when the mirror is found damaged, and with nil when it is whole again; it may be nil.
	report func(err error)
	// last is the object that was damaged at the last repair; it belongs to whoever has the turn to write.
	last plumbing.Hash

	mu sync.Mutex
	// count is the number of repairs, damaged is true from a repair to the next Update.
	count   uint64
	damaged bool
}

// retried runs read, and once more when the mirror was found damaged and was repaired. read changes nothing outside
// of the mirror.
func retried[T any](ctx context.Context, r *repairer, read func() (T, error)) (T, error) {
	seen := r.repairs()
	result, err := read()
	if err = r.repair(ctx, seen, err); !errors.Is(err, ErrRepaired) {
		return result, err
	}
	seen = r.repairs()
	result, err = read()
	return result, r.repair(ctx, seen, err)
}

func (r *repairer) repairs() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// repair repairs the mirror when it is the cause of the error, unless another caller has done so since the number of
// repairs was seen; the error is ErrRepaired then. It returns other errors as they are. An object that is damaged
// again after it was fetched again is damaged in the remote.
func (r *repairer) repair(ctx context.Context, seen uint64, err error) error {
	damage := damageOf(err)
	if damage == nil {
		return err
	}
	if lockErr := r.mirror.writing.take(ctx); lockErr != nil {
		return lockErr
	}
	defer r.mirror.writing.release()
	if r.repairs() != seen {
		return fmt.Errorf("%w: %w", ErrRepaired, err)
	}
	name := r.mirror.name
	r.mirror.logger.Warn("the mirror is damaged; what is missing is fetched again", "object", damage.id, "error", err)
	r.note(err)
	repairErr := r.mirror.rebuild(ctx)
	r.mu.Lock()
	r.count++
	r.mu.Unlock()
	if repairErr != nil {
		return fmt.Errorf("repair the mirror of repository %s: %w", name.id, errors.Join(repairErr, err))
	}
	r.again()
	if !damage.id.IsZero() && damage.id == r.last {
		r.last = plumbing.ZeroHash
		hint := fmt.Sprintf(
			"object %s is damaged again after it was fetched again: run git fsck --full in the repository", damage.id,
		)
		return name.problem(ErrDamaged, hint)
	}
	r.last = damage.id
	return fmt.Errorf("%w: %w", ErrRepaired, err)
}

// note reports that the mirror is damaged, and with nil that it is whole again.
func (r *repairer) note(err error) {
	r.mu.Lock()
	changed := r.damaged != (err != nil)
	r.damaged = err != nil
	r.mu.Unlock()
	if changed && r.report != nil {
		r.report(err)
	}
}
