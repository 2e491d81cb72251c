# SPDX-License-Identifier: Apache-2.0
# bash completion for tulle; what can be completed is asked of the program itself.

_tulle_benches() { "${1:-tulle}" bench --list 2>/dev/null | cut -d' ' -f1; }
_tulle_options() { "${1:-tulle}" info --json 2>/dev/null | sed -n 's/^ *"name": "\(.*\)",$/\1=/p'; }

_tulle_processes() { "${1:-tulle}" ps 2>/dev/null | LC_ALL=C sed -n 's/^ *\([0-9][0-9]*\) .*/\1/p'; }

_tulle_run() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            -n | --places | --memory-places | --hosts | --mpi | --tags | --io | --grace | --workers | --stack-size | --seed | --explore | --time-limit | --set) ((i++)) ;;
            --stack-report | --explain | --check | --pthreads | --ucontext | --ucontext=* | --share-cpus | --share-globals | --no-bind | --no-tags | -n* | --places=* | --memory-places=* | --hosts=* | --mpi=* | --tags=* | --io=* | --grace=* | --workers=* | --stack-size=* | --seed=* | --explore=* | --time-limit=* | --set=* | -h | --help) ;;
            --) ((i++)); break ;;
            *) break ;;
        esac
    done
    if ((i < COMP_CWORD)) || [[ ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
        COMPREPLY=($(compgen -f -- "$cur"))
        return
    fi
    case $prev in
        --set) COMPREPLY=($(compgen -W "$(_tulle_options "${COMP_WORDS[0]}")" -- "$cur")); compopt -o nospace ;;
        --mpi) COMPREPLY=($(compgen -W "openmpi mpich" -- "$cur")) ;;
        --tags) COMPREPLY=($(compgen -W "others all none" -- "$cur")) ;;
        --io) COMPREPLY=($(compgen -W "own 0" -- "$cur")) ;;
        -n | --places | --memory-places | --hosts | --workers | --stack-size | --seed | --explore | --time-limit | --grace) COMPREPLY=() ;;
        *) COMPREPLY=($(compgen -W "--places --memory-places --hosts --mpi --tags --no-tags --io --grace --workers --stack-size --stack-report --explain --check --pthreads --ucontext --ucontext=no-masks --share-cpus --share-globals --no-bind --seed --explore --time-limit --set --help" -- "$cur") $(compgen -c -- "$cur")) ;;
    esac
}

_tulle_bench() {
    case $prev in
        --html) COMPREPLY=($(compgen -f -- "$cur")) ;;
        --dir | --sources) COMPREPLY=($(compgen -d -- "$cur")) ;;
        --mpi) COMPREPLY=($(compgen -W "openmpi mpich" -- "$cur")) ;;
        --paper) COMPREPLY=($(compgen -W "coherence dszoom octopos paper qthreads tnt" -- "$cur")) ;;
        --unit) COMPREPLY=($(compgen -W "64 128 256 512 1024 2048 4096" -- "$cur")) ;;
        --runs | --workers | --places | --n | --hosts | --programs) COMPREPLY=() ;;
        *)
            COMPREPLY=($(compgen -W "--list --quick --json --html --paper --runs --workers --places --n --sources --programs --unit --emulated --hosts --mpi --peers --no-peers --dir --help
                $(_tulle_benches "${COMP_WORDS[0]}")" -- "$cur"))
            ;;
    esac
}

# Its options come first; what follows is the compiler's.
_tulle_cc() {
    case $prev in
        --scheme) COMPREPLY=($(compgen -W "states refresh directory races" -- "$cur")) ;;
        --checks) COMPREPLY=($(compgen -W "all stores loads int-loads fp-loads none" -- "$cur")) ;;
        --clang) COMPREPLY=($(compgen -c -- "$cur")) ;;
        *) COMPREPLY=($(compgen -W "--checks --scheme --clang --list --share-globals --help" -- "$cur") $(compgen -f -- "$cur")) ;;
    esac
}

_tulle() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "info bench run ps cpus cc c++ help --help --version" -- "$cur"))
        return
    fi
    case ${COMP_WORDS[1]} in
        help) ((COMP_CWORD == 2)) && COMPREPLY=($(compgen -W "info bench run ps cpus cc c++ help --help" -- "$cur")) ;;
        info | cpus) COMPREPLY=($(compgen -W "--json --help" -- "$cur")) ;;
        bench) _tulle_bench ;;
        run) _tulle_run ;;
        cc | c++) _tulle_cc ;;
        ps) COMPREPLY=($(compgen -W "$(_tulle_processes "${COMP_WORDS[0]}") --help" -- "$cur")) ;;
    esac
}

complete -o bashdefault -F _tulle tulle
