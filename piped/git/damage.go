// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrRepaired says that the mirror was damaged, as after a power cut, and was repaired: what is missing is fetched
// again when the caller retries, which has to undo first what the failed call has done.
var ErrRepaired = errors.New("the mirror was damaged and is repaired; retry")

// mirrorError is a failure to read an object of the mirror.
type mirrorError struct {
	id  plumbing.Hash
	err error
}

// Error returns the cause.
func (e *mirrorError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *mirrorError) Unwrap() error { return e.err }

// readError is the error of an object of the mirror, of that kind, that cannot be read; nil without a cause.
func readError(kind string, id plumbing.Hash, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s %s: %w", kind, id, &mirrorError{id, err})
}

// damageOf returns the error of the object that is damaged, or nil when the mirror is not the cause.
func damageOf(err error) *mirrorError {
	var failed *mirrorError
	if !errors.As(err, &failed) || isSystemError(failed.err) {
		return nil
	}
	return failed
}

// isSystemError distinguishes a system that cannot read now, such as one without free descriptors, and a caller that
// has gone, from objects that are damaged or missing.
func isSystemError(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var errno syscall.Errno
	return errors.As(err, &errno) && !errors.Is(errno, fs.ErrNotExist)
}

// retried runs read, and once more when the mirror was found damaged and was repaired. read changes nothing outside
// of the mirror.
func retried[T any](ctx context.Context, r *Repository, read func() (T, error)) (T, error) {
	seen := r.repairCount()
	result, err := read()
	if err = r.repair(ctx, seen, err); !errors.Is(err, ErrRepaired) {
		return result, err
	}
	seen = r.repairCount()
	result, err = read()
	return result, r.repair(ctx, seen, err)
}

func (r *Repository) repairCount() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.repairs
}

// repair repairs the mirror when it is the cause of the error, unless another caller has done so since the number of
// repairs was seen; the error is ErrRepaired then. It returns other errors as they are. An object that is damaged
// again after it was fetched again is damaged in the remote.
func (r *Repository) repair(ctx context.Context, seen uint64, err error) error {
	damage := damageOf(err)
	if damage == nil {
		return err
	}
	if lockErr := r.lockPacks(ctx); lockErr != nil {
		return lockErr
	}
	defer r.unlockPacks()
	if r.repairCount() != seen {
		return fmt.Errorf("%w: %w", ErrRepaired, err)
	}
	r.logger.Warn("the mirror is damaged; what is missing is fetched again", "object", damage.id, "error", err)
	r.reportDamage(err)
	if repairErr := r.rebuild(ctx); repairErr != nil {
		return fmt.Errorf("repair the mirror of repository %s: %w", r.options.ID, errors.Join(repairErr, err))
	}
	r.signal() // an Update brings the branch again
	if !damage.id.IsZero() && damage.id == r.lastDamage {
		r.lastDamage = plumbing.ZeroHash
		return r.problem(ErrDamaged, fmt.Sprintf("object %s is damaged again after it was fetched again: run git fsck --full in the repository", damage.id))
	}
	r.lastDamage = damage.id
	return fmt.Errorf("%w: %w", ErrRepaired, err)
}

// reportDamage reports that the mirror is damaged, and with nil that it is whole again.
func (r *Repository) reportDamage(err error) {
	r.mu.Lock()
	changed := r.damaged != (err != nil)
	r.damaged = err != nil
	r.mu.Unlock()
	if changed && r.options.Damaged != nil {
		r.options.Damaged(err)
	}
}
