// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// checkSignatures refuses a plugin that has a method with the name of an optional one and another signature: it would
// never be called, without a word.
func checkSignatures[Config, Target, App any](author any) error {
	var wrong []error
	for _, one := range []struct {
		method, of string
		optional   reflect.Type
	}{
		{"Start", "sdk.Starter", reflect.TypeFor[Starter[Config, Target]]()},
		{"Close", "io.Closer", reflect.TypeFor[io.Closer]()},
		{"Sources", "sdk.SourceUser", reflect.TypeFor[SourceUser]()},
		{"Once", "sdk.OnceOnly", reflect.TypeFor[OnceOnly]()},
		{"TakesClusterFaults", "sdk.ClusterCaller", reflect.TypeFor[ClusterCaller]()},
		{"RemovalStage", "sdk.Remover", reflect.TypeFor[Remover]()},
		{"GetLivestate", "sdk.LivestatePlugin", reflect.TypeFor[LivestatePlugin[Config, Target, App]]()},
		{"LivestateChanges", "sdk.LivestateWatcher", reflect.TypeFor[LivestateWatcher]()},
		{"GetDrift", "sdk.DriftPlugin", reflect.TypeFor[DriftPlugin[Config, Target, App]]()},
		{"GetPlanPreview", "sdk.PlanPreviewPlugin", reflect.TypeFor[PlanPreviewPlugin[Config, Target, App]]()},
	} {
		wrong = append(wrong, checkMethod(reflect.TypeOf(author), one.method, one.of, one.optional))
	}
	if _, has := author.(LivestatePlugin[Config, Target, App]); !has {
		_, drifts := author.(DriftPlugin[Config, Target, App])
		_, watches := author.(LivestateWatcher)
		if drifts || watches {
			wrong = append(wrong, fmt.Errorf("%T has GetDrift or LivestateChanges without GetLivestate, so the SDK "+
				"does not call it\nnext step: add GetLivestate, or remove the method", author))
		}
	}
	wrong = append(wrong, checkValidate(reflect.TypeFor[Config]()), checkValidate(reflect.TypeFor[Target]()),
		checkValidate(reflect.TypeFor[App]()))
	return errors.Join(wrong...)
}

// checkMethod refuses a method of t with the name of one of an optional interface that t does not have.
func checkMethod(t reflect.Type, name, of string, optional reflect.Type) error {
	pointer := t
	if t.Kind() != reflect.Pointer {
		pointer = reflect.PointerTo(t)
	}
	got, has := pointer.MethodByName(name)
	if !has || t.Implements(optional) {
		return nil
	}
	if pointer.Implements(optional) {
		return fmt.Errorf("method %s of %s has a pointer receiver, so the SDK cannot call it\n"+
			"next step: give the SDK a pointer to the plugin", name, pointer)
	}
	want, _ := optional.MethodByName(name)
	return fmt.Errorf("method %s of %s has the wrong signature, so the SDK cannot call it: it is %s%s, want %s%s\n"+
		"next step: correct the signature, which is that of %s, or rename the method",
		name, t, name, signature(got.Type, 1), name, signature(want.Type, 0), of)
}

// validator is the optional method of configurations.
type validator interface{ Validate() error }

// checkValidate refuses a method Validate of a configuration that would never be called.
func checkValidate(config reflect.Type) error {
	p := reflect.PointerTo(config)
	got, has := p.MethodByName("Validate")
	if !has || p.Implements(reflect.TypeFor[validator]()) {
		return nil
	}
	return fmt.Errorf("method Validate of %s has the wrong signature, so the SDK cannot call it: it is Validate%s, "+
		"want Validate() error\nnext step: correct the signature, or rename the method", config, signature(got.Type, 1))
}

// signature is the parameters and results of a method, from a parameter on: the first may be the receiver.
func signature(method reflect.Type, first int) string {
	var in, out []string
	for i := first; i < method.NumIn(); i++ {
		in = append(in, typeName(method.In(i)))
	}
	for result := range method.Outs() {
		out = append(out, typeName(result))
	}
	text := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	default:
		return text + " (" + strings.Join(out, ", ") + ")"
	}
}

// typeName is a type as its author writes it: arguments of generic types without the paths of their packages.
func typeName(t reflect.Type) string {
	var name strings.Builder
	word := 0 // where the current path begins
	text := strings.ReplaceAll(t.String(), "struct {}", "sdk.None")
	for i, r := range text {
		switch r {
		case '/':
			kept := name.String()
			name.Reset()
			name.WriteString(kept[:len(kept)-(i-word)])
			word = i + 1
			continue
		case '[', ']', ',', '*', ' ', '(', ')':
			word = i + 1
		}
		name.WriteRune(r)
	}
	return strings.ReplaceAll(name.String(), ",", ", ")
}
