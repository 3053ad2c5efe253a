"""The symbols of a module's kernels, and the names that their source has for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# A function in the Itanium ABI: its nesting, and then each name behind its length.
_MANGLED = re.compile(r"_Z(N?)(St)?(.*)", re.DOTALL)
_NUMBERED = re.compile(r"L?(\d+)")
_ANONYMOUS = "_GLOBAL__N_"


def symbol_of(name: str, kernels: Iterable[str], lowered: Mapping[str, bytes]) -> str:
    """The symbol of the kernel called `name`.

    That is the lowered name of an expression, else the symbol itself, else the symbol of the only kernel which the
    source calls so, with its namespaces or, if there is none, without. An instance of a template is no kernel of the
    template's name.

    Parameters
    ----------
    kernels : iterable of str
        The symbols of the module's kernels.
    lowered : mapping of str to bytes
        The symbols of the expressions that the module was compiled with.

    Raises
    ------
    ValueError
        If no kernel has this name, or if several have it.

    Examples
    --------
    >>> symbol_of("scale", ["_ZN4mine5scaleEPfi", "_ZN4mine4fillEPf"], {})
    '_ZN4mine5scaleEPfi'
    >>> symbol_of("scale", ["_Z5scalePf", "_Z5scalePd"], {})
    Traceback (most recent call last):
    ValueError: several kernels are called 'scale'; accepted: _Z5scalePf, _Z5scalePd
    """
    symbols = list(kernels)
    if name in lowered:
        return lowered[name].decode()
    if name in symbols:
        return name
    wanted = name.removeprefix("::")
    found = [each for each in symbols if source_name(each) == wanted]
    found = found or [each for each in symbols if source_name(each).endswith(f"::{wanted}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"several kernels are called {name!r}; accepted: {', '.join(found)}")
    expressions = {symbol.decode(): expression for expression, symbol in lowered.items()}
    names = dict.fromkeys(expressions.get(each, source_name(each)) for each in symbols)
    accepted = ", ".join(names) or "nothing, as the module has no kernels; a template has none but its instances"
    raise ValueError(f"there is no kernel {name!r}; accepted: {accepted}")


def source_name(symbol: str) -> str:
    """The name of a kernel in its source, from its symbol. Anonymous namespaces are left out.

    Examples
    --------
    >>> [source_name(each) for each in ("_ZN4mine5scaleEPfi", "_Z5scaleIfEvPT_", "scale")]
    ['mine::scale', 'scale<...>', 'scale']
    """
    found = _MANGLED.fullmatch(symbol)
    if found is None:
        return symbol
    names, rest = ["std"] if found[2] else [], found[3]
    while number := _NUMBERED.match(rest):
        end = number.end() + int(number[1])
        names.append(rest[number.end() : end])
        rest = rest[end:]
        if not (found[1] or found[2]):  # parameters follow
            break
    spelled = "::".join(each for each in names if not each.startswith(_ANONYMOUS))
    return f"{spelled}<...>" if rest.startswith("I") else spelled
