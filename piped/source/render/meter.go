// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// What is charged besides sizes, in bytes.
const (
	stepCost  = 64
	valueCost = 64
	callCost  = 64
)

// meter counts what a template uses up, and holds its output. It is for one goroutine.
type meter struct {
	ctx    context.Context
	left   float64
	output strings.Builder
}

// Write takes output; an empty one stands for a step.
func (m *meter) Write(p []byte) (int, error) {
	if err := m.spend(stepCost); err != nil {
		return 0, err
	}
	if m.output.Len()+len(p) > MaxOutput {
		return 0, fmt.Errorf("its output is larger than the %d MiB that it may be", MaxOutput>>20)
	}
	return m.output.Write(p)
}

func (m *meter) spend(bytes float64) error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	if m.left -= bytes; m.left < 0 {
		return fmt.Errorf("it needs more than the %d MiB of work that a template may take", maxWork>>20)
	}
	return nil
}

// measure charges a value with everything in it. Values cannot contain themselves, because no function
// changes one.
func (m *meter) measure(value reflect.Value) (size, depth int, err error) {
	switch value.Kind() {
	case reflect.Interface, reflect.Pointer:
		if value.IsNil() {
			return 0, 0, nil
		}
		return m.measure(value.Elem())
	case reflect.String:
		return value.Len(), 0, m.spend(float64(value.Len()))
	case reflect.Slice, reflect.Array, reflect.Map:
		return m.measureAll(value)
	default:
		return valueCost, 0, m.spend(valueCost)
	}
}

func (m *meter) measureAll(value reflect.Value) (size, depth int, err error) {
	one := func(inner reflect.Value) error {
		n, deep, err := m.measure(inner)
		size += n + valueCost
		depth = max(depth, deep+1)
		if err != nil {
			return err
		}
		return m.spend(valueCost)
	}
	if value.Kind() != reflect.Map {
		for i := range value.Len() {
			if err := one(value.Index(i)); err != nil {
				return size, depth, err
			}
		}
		return size, depth, nil
	}
	for each := value.MapRange(); each.Next(); {
		if err := one(each.Key()); err != nil {
			return size, depth, err
		}
		if err := one(each.Value()); err != nil {
			return size, depth, err
		}
	}
	return size, depth, nil
}
