// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

const (
	// maxCost bounds the work of an expression for one object, in the units of CEL: a tenth of what Kubernetes allows
	// for one check of an object.
	maxCost = 100_000
	// expressionTimeout bounds its time. The cost ends it earlier, except on a machine that is overloaded.
	expressionTimeout = 2 * time.Second
	// checkEvery is after how many steps of a loop the time is looked at.
	checkEvery = 100
)

// expression is a compiled expression in CEL over the variable object.
type expression struct{ program cel.Program }

var _ judge = expression{}

func compileExpression(text string) (judge, error) {
	env, err := cel.NewEnv(cel.Variable("object", cel.DynType), cel.OptionalTypes())
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if issues != nil && len(issues.Errors()) > 0 {
		first := issues.Errors()[0]
		said, _, _ := strings.Cut(oneLine(first.Message), " (in container")
		return nil, &placedError{line: first.Location.Line(), column: first.Location.Column() + 1, text: said}
	}
	switch kind := checked.OutputType(); kind.Kind() {
	case types.DynKind, types.AnyKind, types.StringKind, types.MapKind, types.NullTypeKind, types.OpaqueKind:
	default:
		return nil, fmt.Errorf("gives a value of the type %s: want a status, or a map with status and message", kind)
	}
	program, err := env.Program(checked, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		return nil, err
	}
	return expression{program}, nil
}

var errSlow = fmt.Errorf("it took longer than %s", expressionTimeout)

func (e expression) judge(ctx context.Context, object map[string]any) (any, error) {
	bounded, cancel := context.WithTimeout(ctx, expressionTimeout)
	defer cancel()
	value, _, err := e.program.ContextEval(bounded, map[string]any{"object": object})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case bounded.Err() != nil:
		return nil, errSlow
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "operation cancelled: "))
	}
	return native(value)
}

// native turns what an expression gives into a text, a mapping or nil.
func native(value ref.Val) (any, error) {
	if optional, is := value.(*types.Optional); is {
		if !optional.HasValue() {
			return nil, nil
		}
		value = optional.GetValue()
	}
	switch value.Type() {
	case types.NullType:
		return nil, nil
	case types.StringType:
		return value.Value(), nil
	case types.MapType:
		plain, err := value.ConvertToNative(reflect.TypeFor[map[string]any]())
		if err != nil {
			return nil, fmt.Errorf("it gives a map that is no status: %w", err)
		}
		given, _ := plain.(map[string]any)
		for key, entry := range given {
			if one, is := entry.(ref.Val); is {
				given[key], err = native(one)
			}
		}
		return given, err
	}
	return nil, fmt.Errorf("it gives a value of the type %s: want a status, or a map with status and message",
		value.Type().TypeName())
}
